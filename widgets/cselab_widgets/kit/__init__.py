"""The parts of the panels; it imports none of them.

panel, shell        a state and its view: controls, plot, words
plot, page          the figure in a notebook (plot.js) and on a page without a kernel; figure.js draws both
static_export       the contents of a panel in a page, so that its controls answer; page_figure.js shows it
page_panel          a panel that computes in the page: page_controls.js, losses.js on autograd.js
carried_encoder     an encoder as a page carries it; encoder.js computes it, tokens.js cuts a text into tokens
scripts             the JavaScript as a page gets it; listen.js corrects how a widget hears
planes, ridges      several planes side by side; a density for each grade
scrubber            a play button and a slider over steps
projection          many dimensions in a plane
controls, fields    controls with a visible name, and the fields of a state that describe them
linking             panels that move together
panel_vectors       an encoder's vectors
inputs              checks of users' objects
number_table        HTML under a panel
theme               colours for light and dark
cell_registry       which panel is open in which cell
"""
