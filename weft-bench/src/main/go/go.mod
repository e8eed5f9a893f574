module dev.weft/bench

go 1.19
