"""Data others published, with the source of each; the numbers expected of them stand in the tests."""

# SPEC SDM91: R package usl, data/specsdm91.rda.
SPECSDM91 = ([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
# Ray tracer on an SGI Origin 2000: R package usl, data/raytracer.rda; Gunther 2007, section 5.2.3.
RAYTRACER = ([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64], [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310])
# Exact values for α = β = .02, γ = 1 to five digits: R package usl, tests/coef.R.
SYNTHETIC = ([1, 2, 4, 6, 8, 10], [1, 1.8868, 3.0769, 3.5294, 3.5398, 3.3557])
# sysbench CPU on a machine with 4 threads: fixture of sca_tools.
SYSBENCH = (
    [1, 2, 4, 8, 16, 32, 64, 128, 512, 1024, 2048],
    [
        8272.558, 16589.789, 27322.074, 27313.862, 27368.630, 27352.126,
        27308.673, 27309.293, 27378.547, 27346.711, 27411.817,
    ],
)  # fmt: skip
# NGINX requests/s by processors, responses of 100 KB: NGINX sizing article, quoted in a third-party copy.
NGINX_100KB = ([1, 2, 4, 8, 16, 32, 36], [33125, 62554, 88691, 91640, 91623, 91640, 91655])
# wrk 4.1.0 on one thread against nginx, two virtual processors: verbatim samples sweep-616.txt-c*.txt.
WRK_616 = (
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000],
    [
        11578.57, 22370.26, 67578.85, 123073.14, 125880.25, 124622.92,
        126407.36, 130594.47, 131175.24, 121587.06, 120649.69,
    ],
)  # fmt: skip
