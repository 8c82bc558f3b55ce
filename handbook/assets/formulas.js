// The formulas of the calculators, each the same as a function of the Python library; times in s, sizes in bytes.
// A classic script, as browsers load no modules from files; Node.js reads it with require().
const formulas = (() => {
  const PORTS = 28232; // net.ipv4.ip_local_port_range of Linux: 32768 to 60999
  const TIME_WAIT_S = 60; // Linux, include/net/tcp.h: TCP_TIMEWAIT_LEN
  const RECORD_BYTES = 2 ** 14; // RFC 8446, section 5.1: most plain bytes of a record
  const ROUNDING = 1 - 1e-9; // of ceil(): a product that is whole but for its last bit stays whole

  // N = X (R + Z): J. D. C. Little, Operations Research 9(3), 1961, page 383.  The one that is undefined is computed.
  function little({ connections, throughput, latency, think = 0 }) {
    if (connections === undefined) return throughput * (latency + think);
    if (throughput === undefined) return connections / (latency + think);
    return connections / throughput - think;
  }

  // (C + W) / C for each core: B. Goetz and others, Java Concurrency in Practice, 2006, section 8.2.
  const threadsToFill = (compute, wait, cores = 1) => ((compute + wait) / compute) * cores;

  // Busy share of each of m cores, of N threads that compute for C and wait for W: the finite-source queue M/M/m//N,
  // L. Kleinrock, Queueing Systems, volume 1, 1975, section 3.8.
  function threadUtilisation(threads, compute, wait, cores = 1) {
    if (!(compute / wait < 1e100)) return Math.min(threads, cores) / cores; // the wait is 0, or as good as 0
    let weight = 1, sum = 1, busy = 0;
    for (let k = 1; k <= threads; k++) {
      weight *= ((threads - k + 1) * compute) / (wait * Math.min(k, cores));
      if (weight > 1e200) [weight, sum, busy] = [weight / 1e200, sum / 1e200, busy / 1e200];
      sum += weight;
      busy += weight * Math.min(k, cores);
    }
    return busy / sum / cores;
  }

  function threadsNeeded(compute, wait, cores = 1, utilisation = 0.99) {
    const least = threadsToFill(compute, wait, cores);
    if (!(least <= 1e6)) return NaN; // it would take a browser seconds
    const enough = (threads) => threadUtilisation(threads, compute, wait, cores) >= utilisation * (1 - 1e-12);
    let most = Math.max(1, Math.floor(least * utilisation)), fewer = most - 1, step = 1;
    while (!enough(most)) [fewer, most, step] = [most, most + step, 2 * step];
    while (most - fewer > 1) {
      const middle = Math.floor((fewer + most) / 2);
      if (enough(middle)) most = middle; else fewer = middle;
    }
    return most;
  }

  // X = n A E / (n R + W)
  const portLimit = (perConnection, latency = 0, destinations = 1, ports = PORTS, timeWait = TIME_WAIT_S) =>
    (perConnection * destinations * ports) / (perConnection * latency + timeWait);
  const destinationsNeeded = (throughput, perConnection = 1, latency = 0, ports = PORTS, timeWait = TIME_WAIT_S) =>
    Math.max(Math.ceil((throughput / portLimit(perConnection, latency, 1, ports, timeWait)) * ROUNDING), 1);
  function perConnectionNeeded(throughput, latency = 0, destinations = 1, ports = PORTS, timeWait = TIME_WAIT_S) {
    const free = destinations * ports - throughput * latency;
    return free <= 0 ? Infinity : Math.max(Math.ceil(((throughput * timeWait) / free) * ROUNDING), 1);
  }

  // Bytes that a response takes on the medium: T + 90 P, and its share of opening and closing the connection.
  function mediumBytes({ body, header, tls = 0, mtu = 1500, ip = 20, perConnection = Infinity }) {
    const plain = body + header;
    const payload = plain + tls * Math.ceil(plain / RECORD_BYTES);
    const segments = Math.ceil(payload / (mtu - ip - 32)); // 20 of TCP and 12 of its time stamps
    const frame = 14 + ip + 32, medium = 24; // preamble 8, check sequence 4, gap 12: IEEE 802.3
    const synAck = 14 + ip + 20 + 20, close = 2 * (frame + medium);
    return payload + segments * (frame + medium) + (synAck + medium + close) / perConnection;
  }
  const linkLimit = (linkBits, bytes) => linkBits / (8 * bytes); // X = C / (8 m)

  // Gunther, Guerrilla Capacity Planning, 2007, eq. (4.31); peak: eq. (4.33).
  const usl = (number, unit, contention, coherency) =>
    (unit * number) / (1 + contention * (number - 1) + coherency * number * (number - 1));
  const uslPeak = (contention, coherency) => Math.sqrt((1 - contention) / coherency);

  const lnGamma = (x) => {
    // Lanczos, g = 7: W. H. Press and others, Numerical Recipes, 3rd edition, 2007, section 6.1
    const c = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
      12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
    const sum = c.reduce((total, each, k) => (k ? total + each / (x - 1 + k) : each), 0), t = x + 6.5;
    return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
  };
  // Upper tail of the normal distribution; the error function by its continued fraction or its series.
  function normal(x) {
    const z = Math.abs(x) / Math.SQRT2;
    let tail;
    if (z > 2.5) {
      let fraction = 0;
      for (let k = 60; k > 0; k--) fraction = k / 2 / (z + fraction);
      tail = Math.exp(-z * z) / Math.sqrt(Math.PI) / (z + fraction) / 2;
    } else {
      let term = z, sum = z;
      for (let k = 1; k < 80; k++) sum += (term *= (-z * z) / k) / (2 * k + 1);
      tail = 0.5 - sum / Math.sqrt(Math.PI);
    }
    return x > 0 ? tail : 1 - tail;
  }
  // P(T > t) of the noncentral t distribution: Φ(δ − t s) over the scatter s, s² being χ² / ν.
  function tailOfT(t, degrees, noncentrality = 0) {
    const steps = 400, width = 8 / Math.sqrt(2 * degrees), lo = Math.max(0, 1 - width), hi = 1 + 1.5 * width;
    const log = Math.LN2 + (degrees / 2) * Math.log(degrees / 2) - lnGamma(degrees / 2);
    let sum = 0;
    for (let k = 0; k <= steps; k++) {
      const s = lo + ((hi - lo) * k) / steps;
      const density = s === 0 ? (degrees === 1 ? Math.exp(log) : 0)
        : Math.exp(log + (degrees - 1) * Math.log(s) - (degrees * s * s) / 2);
      sum += density * normal(t * s - noncentrality) * (k === 0 || k === steps ? 1 : k % 2 ? 4 : 2);
    }
    return (sum * (hi - lo)) / steps / 3; // Simpson's rule
  }
  // Runs of each server for a difference: J. Cohen, Statistical Power Analysis, 2nd edition, 1988, chapter 2.
  function repeatsForDifference(scatter, difference, level = 0.95, power = 0.8) {
    const effect = Math.log1p(difference) / Math.sqrt(Math.log1p(scatter ** 2));
    const reached = (n) => {
      let lo = 0, hi = 1e3;
      for (let k = 0; k < 60; k++) {
        const middle = (lo + hi) / 2;
        if (tailOfT(middle, 2 * n - 2) > (1 - level) / 2) lo = middle; else hi = middle;
      }
      const d = effect * Math.sqrt(n / 2);
      return tailOfT(lo, 2 * n - 2, d) + tailOfT(lo, 2 * n - 2, -d);
    };
    let fewer = 1, enough = 2;
    while (reached(enough) < power) {
      if (enough > 1e5) return NaN;
      [fewer, enough] = [enough, 2 * enough];
    }
    while (enough - fewer > 1) {
      const middle = Math.floor((fewer + enough) / 2);
      if (reached(middle) >= power) enough = middle; else fewer = middle;
    }
    return enough;
  }

  return { PORTS, TIME_WAIT_S, little, threadsToFill, threadUtilisation, threadsNeeded, portLimit, destinationsNeeded,
    perConnectionNeeded, mediumBytes, linkLimit, usl, uslPeak, repeatsForDifference };
})();
if (typeof module !== "undefined") module.exports = formulas;
