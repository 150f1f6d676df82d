"""draw - pictures of nets, made by Graphviz from a NetParameter.

    >>> from caffe.proto import caffe_pb2
    >>> net = caffe_pb2.NetParameter(name='tiny')
    >>> relu = net.layer.add(name='relu', type='ReLU', bottom=['x'], top=['y'])
    >>> get_dot(net).count('->')
    2

draw_net() and draw_net_to_file() use Graphviz's program `dot`; where it is not installed
they draw a simpler picture with Pillow. get_pydot_graph() needs the package pydot (or
pydotplus).
"""
import shutil
import subprocess

from ._paint import paint
from .proto import caffe_pb2

# The data layer, the layers that learn, pooling: a colour for each.
LAYER_STYLE_DEFAULT = {'shape': 'record', 'fillcolor': '#6495ED', 'style': 'filled'}
NEURON_LAYER_STYLE = {'shape': 'record', 'fillcolor': '#90EE90', 'style': 'filled'}
BLOB_STYLE = {'shape': 'octagon', 'fillcolor': '#E0E0E0', 'style': 'filled'}
_COLORS = {'Convolution': '#FF5050', 'Deconvolution': '#FF5050', 'Pooling': '#FF9900',
           'InnerProduct': '#CC33FF'}
_LEARNING = ('Convolution', 'Deconvolution', 'InnerProduct')


def get_pooling_types_dict():
    """{number: name} of the pooling methods."""
    methods = caffe_pb2.PoolingParameter.PoolMethod.DESCRIPTOR.values
    return {method.number: method.name for method in methods}


def choose_color_by_layertype(layertype):
    return _COLORS.get(layertype, LAYER_STYLE_DEFAULT['fillcolor'])


def get_edge_label(layer):
    """What the edge out of a layer says: its batch size or number of outputs."""
    if layer.type == 'Data':
        return 'Batch ' + str(layer.data_param.batch_size)
    if layer.type in ('Convolution', 'Deconvolution'):
        return str(layer.convolution_param.num_output)
    if layer.type == 'InnerProduct':
        return str(layer.inner_product_param.num_output)
    return '""'


def get_layer_lr_mult(layer):
    """(lr_mult of the weights, of the bias) of a layer that has both."""
    if layer.type not in _LEARNING:
        raise ValueError('%s layers do not have a learning rate multiplier' % layer.type)
    rates = [param.lr_mult for param in layer.param]
    if len(rates) > 2:
        raise ValueError('Could not parse the learning rate multiplier')
    return tuple(rates + [1.0] * (2 - len(rates)))


def _window(layer):
    """Kernel size, stride and pad of a convolution or pooling layer."""
    if layer.type == 'Pooling':
        p = layer.pooling_param
        return p.kernel_size, p.stride, p.pad
    p = layer.convolution_param
    return tuple(values[0] if len(values) else default for values, default in
                 ((p.kernel_size, 1), (p.stride, 1), (p.pad, 0)))


def get_layer_label(layer, rankdir, display_lrm=False):
    """The text of a layer's box, in quotes: name, type, window."""
    kind = layer.type
    if kind == 'Pooling':
        kind += ' ' + get_pooling_types_dict()[layer.pooling_param.pool]
    parts = [layer.name, '(%s)' % kind]
    if layer.type in ('Convolution', 'Deconvolution', 'Pooling'):
        window = 'kernel size: %d', 'stride: %d', 'pad: %d'
        # boxes of a drawing from top to bottom are wide, others are high
        space = ' ' if rankdir in ('TB', 'BT') else r'\n'
        parts.append(space.join(t % n for t, n in zip(window, _window(layer))))
    if display_lrm and layer.type in _LEARNING and any(get_layer_lr_mult(layer)):
        parts.append('lr mult: %.1f, %.1f' % get_layer_lr_mult(layer))
    return '"%s"' % (' ' if rankdir in ('TB', 'BT') else r'\n').join(parts)


def _is_included(layer, phase):
    if phase is None:
        return True
    if len(layer.include) and len(layer.exclude):
        raise ValueError('layer %s has both include and exclude specified.' % layer.name)
    if len(layer.include):
        return any(rule.phase == phase for rule in layer.include)
    return not any(rule.phase == phase for rule in layer.exclude)


def _graph_of(caffe_net, rankdir, label_edges, phase, display_lrm):
    """Nodes {name: (label, style)} and edges (from, to, label)."""
    nodes, edges = {}, []
    for layer in caffe_net.layer:
        if not _is_included(layer, phase):
            continue
        name = '%s_%s' % (layer.name, layer.type)
        if list(layer.bottom) == list(layer.top) and len(layer.top) == 1:
            style = NEURON_LAYER_STYLE
        else:
            style = dict(LAYER_STYLE_DEFAULT,
                         fillcolor=choose_color_by_layertype(layer.type))
        nodes[name] = (get_layer_label(layer, rankdir, display_lrm), style)
        label = get_edge_label(layer) if label_edges else '""'
        for bottom in layer.bottom:
            nodes[bottom + '_blob'] = (bottom, BLOB_STYLE)
            edges.append((bottom + '_blob', name, '""'))
        for top in layer.top:
            nodes.setdefault(top + '_blob', (top, BLOB_STYLE))
            edges.append((name, top + '_blob', label))
    return nodes, edges


def get_pydot_graph(caffe_net, rankdir, label_edges=True, phase=None, display_lrm=False):
    """The net as a graph of pydot (or pydotplus).

    phase: only its layers (caffe.TRAIN, caffe.TEST); None: all. display_lrm: show the
    learning rates' multipliers."""
    try:
        import pydotplus as pydot
    except ImportError:
        import pydot
    nodes, edges = _graph_of(caffe_net, rankdir, label_edges, phase, display_lrm)
    graph = pydot.Dot(_quote(caffe_net.name or 'Net'), graph_type='digraph',
                      rankdir=rankdir)
    made = {}
    for name, (label, style) in nodes.items():
        made[name] = pydot.Node(label if label[:1] == '"' else _quote(label), **style)
        graph.add_node(made[name])
    for source, target, label in edges:
        graph.add_edge(pydot.Edge(made[source], made[target], label=label))
    return graph


def _quote(text):
    return '"%s"' % text.replace('"', r'\"')


def get_dot(caffe_net, rankdir='LR', label_edges=True, phase=None, display_lrm=False):
    """The net in Graphviz's language, as a string."""
    nodes, edges = _graph_of(caffe_net, rankdir, label_edges, phase, display_lrm)
    lines = ['digraph %s {' % _quote(caffe_net.name or 'Net'), 'rankdir=%s;' % rankdir]
    for name, (label, style) in nodes.items():
        settings = ', '.join('%s="%s"' % item for item in style.items())
        lines.append('%s [label=%s, %s];' % (
            _quote(name), label if label[:1] == '"' else _quote(label), settings))
    for source, target, label in edges:
        lines.append('%s -> %s [label=%s];' % (
            _quote(source), _quote(target), label if label[:1] == '"' else _quote(label)))
    return '\n'.join(lines + ['}', ''])


def draw_net(caffe_net, rankdir, ext='png', phase=None, display_lrm=False):
    """A picture of the net as bytes of this format: png, svg, pdf, ...; raw: the text
    for Graphviz."""
    dot = get_dot(caffe_net, rankdir, True, phase, display_lrm).encode()
    if ext in ('raw', 'dot', 'gv'):
        return dot
    program = shutil.which('dot')
    if program is None:
        return paint(*_graph_of(caffe_net, rankdir, True, phase, display_lrm), rankdir, ext)
    return subprocess.run([program, '-T' + ext], input=dot, check=True,
                          stdout=subprocess.PIPE).stdout


def draw_net_to_file(caffe_net, filename, rankdir='LR', phase=None, display_lrm=False):
    """Draw a net into a file, in the format of its name's end (.png, .svg, .raw)."""
    ext = filename[filename.rfind('.') + 1:]
    picture = draw_net(caffe_net, rankdir, ext, phase, display_lrm)
    with open(filename, 'wb') as file:
        file.write(picture)
