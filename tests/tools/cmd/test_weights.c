/* firecaffe export and import of weights alone, as a user runs them. */
#include "program.h"

#define NET                                                                            \
    "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 2 } " \
    "} } "                                                                             \
    "layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' "                     \
    "inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } } "

static void write_nets(void)
{
    write_file("a.prototxt", NET);
    write_file("ab.prototxt",
               NET "layer { name: 'b' type: 'InnerProduct' bottom: 'a' top: 'b' "
                   "inner_product_param { num_output: 3 } }");
    write_file("wide.prototxt",
               "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 1 "
               "dim: 5 } } } layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: "
               "'a' inner_product_param { num_output: 2 } }");
    write_file("zero.npz", "PK\x05\x06");
    /* weights to begin with: two of 2 x 2 and 2 numbers */
    SH_OK("printf '\\200\\0\\0\\0\\0\\0\\0\\0%%-128s%%s' "
          "'{\"a.weight\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
          "\"a.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]}}' "
          "'abcdefghijklmnopqrstuvwx' > w.safetensors");
}

TEST(weights_go_from_format_to_format)
{
    write_nets();
    SH_OK("firecaffe import safetensors w.safetensors --model a.prototxt -o "
          "w.caffemodel");
    CHECK_HAS(ran.out, "wrote w.caffemodel");
    SH_OK("firecaffe export npz w.caffemodel -o w.npz");
    SH_OK("firecaffe import npz w.npz --model a.prototxt -o v.caffemodel");
    SH_OK("cmp v.caffemodel w.caffemodel");
    SH_OK("firecaffe export safetensors w.npz -o v.safetensors");
    SH_OK("tail -c 24 w.safetensors > w.values; tail -c 24 v.safetensors | cmp - "
          "w.values");
    SH_OK("firecaffe net a.prototxt --weights v.safetensors");
}

TEST(what_weights_lack_comes_from_fillers)
{
    write_nets();
    SH_OK("sed -i 's/num_output: 3/& weight_filler { type: \"xavier\" }/' ab.prototxt");
    SH_OK("firecaffe run --model ab.prototxt --params --out filled");
    SH_OK("firecaffe run --model ab.prototxt --weights w.safetensors --params --out o");
    SH_OK("cmp o/b.0.npy filled/b.0.npy");
    SH_OK("tail -c 24 w.safetensors | head -c 16 > a.0; tail -c 16 o/a.0.npy | cmp - "
          "a.0");
    SH_OK("tail -c 24 filled/b.0.npy | od -f | grep -q '[1-9]'");
}

TEST(what_does_not_fit_is_an_error)
{
    write_nets();
    SH_FAILS("w.safetensors: cannot copy parameter 0 of layer \"a\": its shape is 2 2 "
             "(4) in the file, 2 5 (10) in the net",
             "firecaffe import safetensors w.safetensors --model wide.prototxt -o n");
    SH_FAILS("w.safetensors: no parameters for 1 of the 2 layers of the net that have "
             "some: \"b\"; --partial keeps what these have",
             "firecaffe import safetensors w.safetensors --model ab.prototxt -o n");
    CHECK(!file_exists("n"));
    SH_OK("firecaffe import safetensors w.safetensors --model ab.prototxt -o n "
          "--partial");
    CHECK_HAS(ran.err, "no parameters for \"b\"");
    SH_FAILS("zero.npz: it is cut off, or no zip archive",
             "firecaffe import npz zero.npz --model a.prototxt -o m");
    SH_FAILS("Need a file to write", "firecaffe export npz w.safetensors");
    SH_FAILS("Need a file to write", "firecaffe import npz w.npz --model a.prototxt");
}
