# Programs that measure; built on demand: ninja bench_step.
add_executable(bench_peak EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/cpu/peak.c)
target_link_libraries(bench_peak fire)
add_executable(bench_step EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/cpu/step.c)
target_link_libraries(bench_step fire)
add_executable(bench_price EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/sim/price.c)
target_link_libraries(bench_price fire)
add_executable(bench_overhead EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/report/overhead.c)
target_link_libraries(bench_overhead fire)
