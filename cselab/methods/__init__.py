"""One file a method: how its views are made, how they are contrasted. `METHODS` knows them by name."""

from cselab.encoders.encoding import Encode
from cselab.methods.adcse import AdCSE
from cselab.methods.arccse import ArcCSE
from cselab.methods.barlow_twins import BarlowTwins
from cselab.methods.base import FAMILIES, METHODS, Method, Views, create_method, get_method, register
from cselab.methods.bt_bert import BTBERT
from cselab.methods.cards import CARDS
from cselab.methods.cert import CERT
from cselab.methods.clear import CLEAR
from cselab.methods.cline import CLINE
from cselab.methods.composed import FocalDCLR, FocalDiffCSE, ImSimDCLR, ImSimDiffCSE, MixDiffCSE
from cselab.methods.consert import ConSERT
from cselab.methods.contrastive import Contrastive
from cselab.methods.ct import CT
from cselab.methods.dclr import DCLR
from cselab.methods.dcpcse import DCPCSE
from cselab.methods.declutr import DeCLUTR
from cselab.methods.diffcse import DiffCSE
from cselab.methods.dimension_wise import DimensionWise
from cselab.methods.ease import EASE
from cselab.methods.esimcse import ESimCSE
from cselab.methods.focal import Focal
from cselab.methods.imsimcse import ImSimCSE
from cselab.methods.is_bert import ISBERT
from cselab.methods.mcse import MCSE
from cselab.methods.mixcse import MixCSE
from cselab.methods.mocose import MoCoSE
from cselab.methods.noise import Noise
from cselab.methods.pairsupcon import PairSupCon
from cselab.methods.promptbert import PromptBERT
from cselab.methods.pt_bert import PTBERT
from cselab.methods.recipe import Recipe
from cselab.methods.retrieved_negatives import RetrievedNegatives
from cselab.methods.scd import SCD
from cselab.methods.sg_opt import SGOPT
from cselab.methods.simcse import SimCSE
from cselab.methods.sncse import SNCSE
from cselab.methods.sncse_dropout import SNCSEDropout
from cselab.methods.sr_bert import SRBERT
from cselab.methods.supervised_simcse import SupervisedSimCSE
from cselab.methods.switch_case import SwitchCase
from cselab.methods.uscal import USCAL
from cselab.methods.vascl import VaSCL
from cselab.methods.whitenedcse import WhitenedCSE

__all__ = [
    "BTBERT",
    "CARDS",
    "CERT",
    "CLEAR",
    "CLINE",
    "CT",
    "DCLR",
    "DCPCSE",
    "EASE",
    "FAMILIES",
    "ISBERT",
    "MCSE",
    "METHODS",
    "PTBERT",
    "SCD",
    "SGOPT",
    "SNCSE",
    "SRBERT",
    "USCAL",
    "AdCSE",
    "ArcCSE",
    "BarlowTwins",
    "ConSERT",
    "Contrastive",
    "DeCLUTR",
    "DiffCSE",
    "DimensionWise",
    "ESimCSE",
    "Encode",
    "Focal",
    "FocalDCLR",
    "FocalDiffCSE",
    "ImSimCSE",
    "ImSimDCLR",
    "ImSimDiffCSE",
    "Method",
    "MixCSE",
    "MixDiffCSE",
    "MoCoSE",
    "Noise",
    "PairSupCon",
    "PromptBERT",
    "Recipe",
    "RetrievedNegatives",
    "SNCSEDropout",
    "SimCSE",
    "SupervisedSimCSE",
    "SwitchCase",
    "VaSCL",
    "Views",
    "WhitenedCSE",
    "create_method",
    "get_method",
    "register",
]
