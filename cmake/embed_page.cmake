# Joins the report's HTML, style and scripts into one page and writes it as a C array. The
# page holds the word @DATA@, which the program replaces with the data of a run.
#   cmake -DSOURCE=report -DOUT=page.c -P embed_page.cmake
set(scripts dom figure scale lineplot bars results timeline net learned runs summary curves sweep times page live)

file(READ ${SOURCE}/page.html page)
file(READ ${SOURCE}/style.css style)
set(script "'use strict';\n")
foreach(name IN LISTS scripts)
  file(READ ${SOURCE}/${name}.js text)
  string(APPEND script "${text}")
endforeach()
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")

file(WRITE ${OUT}.html "${page}")
file(READ ${OUT}.html bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "#include \"report/page.h\"\nconst unsigned char fire_page[] = {${bytes}0};\n"
  "const size_t fire_page_size = sizeof(fire_page) - 1;\n")
