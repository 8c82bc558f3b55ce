// Binds the forms of a page to the formulas.  A form names its calculator, its fields and its results; the text is the
// page's.  The fields are kept in the fragment of the address, so that a result can be shared.
(() => {
  const whole = (value) => (Number.isFinite(value) ? Math.round(value).toLocaleString("en") : "—");
  const show = (value) => {
    if (value === Infinity) return "no limit";
    if (!Number.isFinite(value)) return "—";
    return Math.abs(value) >= 1000 ? whole(value) : String(Number(value.toPrecision(4)));
  };
  const seconds = (value) => (Math.abs(value) < 1 ? `${show(value * 1e3)} ms` : `${show(value)} s`);

  const calculators = {
    little({ connections, throughput, latency, think }) {
      const missing = [connections, throughput, latency].filter((value) => value === undefined).length;
      if (missing > 1) throw new Error("Fill in two of connections, throughput and response time.");
      const found = formulas.little({ connections, throughput, latency: missing && latency === undefined ? 0 : latency, think });
      if (missing === 0) {
        const there = throughput * (latency + think);
        return { found: `X (R + Z) = ${show(there)} of ${show(connections)} connections: ${show(there / connections)} of them. Empty a field to compute it.` };
      }
      if (connections === undefined) return { found: `N = ${show(found)} connections` };
      if (throughput === undefined) return { found: `X = ${show(found)} requests/s` };
      if (found < 0) throw new Error("The think time is longer than N / X: such a run is impossible.");
      return { found: `R = ${seconds(found)}` };
    },
    threads({ compute, wait, cores, share }) {
      const needed = formulas.threadsNeeded(compute, wait, cores, share);
      return {
        fill: show(formulas.threadsToFill(compute, wait, cores)),
        needed: Number.isFinite(needed) ? whole(needed) : "more than 1,000,000",
        most: show(cores / compute),
        least: seconds(compute + wait),
      };
    },
    ports({ wanted, each, latency, destinations, ports, time_wait }) {
      const most = formulas.perConnectionNeeded(wanted, latency, destinations, ports, time_wait);
      return {
        limit: show(formulas.portLimit(each, latency, destinations, ports, time_wait)),
        waiting: show((wanted / each) * time_wait),
        pairs: show(formulas.destinationsNeeded(wanted, each, latency, ports, time_wait)),
        per_connection: most === Infinity ? "(impossible: more are in flight than ports)" : show(most),
      };
    },
    wire({ link, body, header, tls, mtu, each }) {
      const bytes = formulas.mediumBytes({ body, header, tls, mtu, perConnection: each ?? Infinity });
      return { bytes: show(bytes), limit: show(formulas.linkLimit(link, bytes)), goodput: show((body * formulas.linkLimit(link, bytes) * 8) / 1e9) };
    },
    runs({ scatter, difference, power }) {
      const runs = formulas.repeatsForDifference(scatter, difference, 0.95, power);
      return { runs: Number.isFinite(runs) ? whole(runs) : "More than 100,000" };
    },
    scale({ unit, contention, coherency, number }) {
      const one = formulas.usl(1, unit, contention, coherency), at = formulas.usl(number, unit, contention, coherency);
      return { at: show(at), efficiency: show((100 * at) / (number * one)), peak: show(Math.max(formulas.uslPeak(contention, coherency), 1)) };
    },
    possible({ connections, link }, form) {
      const text = form.elements.report.value;
      const list = form.querySelector(".lc-checks");
      list.replaceChildren();
      if (!text.trim()) return { verdict: "" };
      const run = benchmark.read(text);
      run.connections ??= connections;
      const checks = benchmark.check(run, link);
      const words = { ok: "holds", warning: "with care", error: "do not use", unchecked: "not checked" };
      for (const { rule, verdict, text: sentence } of checks) {
        const item = document.createElement("li"), badge = document.createElement("strong"), more = document.createElement("a");
        item.className = `lc-check-${verdict}`;
        badge.textContent = words[verdict];
        more.textContent = rule;
        more.href = `${form.dataset.rules}${rule}.html`;
        item.append(badge, ` ${sentence} `, more);
        list.append(item);
      }
      const total = benchmark.verdict(checks);
      const complete = checks.every(({ verdict }) => verdict !== "unchecked");
      const ok = complete ? "No identity of this report is broken." : "Nothing that could be checked is broken.";
      const summary = { ok, warning: "Use it with care:", error: "Do not use it as it is:", unchecked: "Nothing could be checked." };
      return { verdict: `${run.tool}: ${summary[total]}` };
    },
  };

  // What a person types into a field: 10,000 and 10 000 too, but not 0,5.  Empty is undefined where the field may be empty.
  function valueOf(input) {
    const bare = input.value.replace(/[\s_]/g, "");
    const text = /^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(bare) ? bare.replace(/,/g, "") : bare;
    const name = input.closest("label").firstChild.textContent.trim();
    if (text === "" && !input.required) return undefined;
    const value = Number(text), least = Number(input.dataset.least ?? 0), most = Number(input.dataset.most ?? Infinity);
    const inside = value <= most && (input.hasAttribute("data-above") ? value > least : value >= least);
    if (text === "" || !Number.isFinite(value) || !inside) {
      const range = `${input.hasAttribute("data-above") ? "above" : "from"} ${least}${most < Infinity ? ` to ${most}` : ""}`;
      throw new Error(`${name}: expected a number ${range}, got “${input.value}”.`);
    }
    return value * Number(input.dataset.unit ?? 1);
  }

  function compute(form) {
    const problem = form.querySelector(".lc-problem");
    problem.textContent = "";
    try {
      const fields = [...form.querySelectorAll("input, select")];
      const values = Object.fromEntries(fields.map((field) => [field.name, field.tagName === "SELECT" ? Number(field.value) : valueOf(field)]));
      const results = calculators[form.dataset.calculator](values, form);
      for (const [name, text] of Object.entries(results)) form.elements[name].value = text;
    } catch (error) {
      for (const output of form.querySelectorAll("output")) output.value = "";
      form.querySelector(".lc-checks")?.replaceChildren();
      problem.textContent = error.message;
    }
  }

  const fieldsOf = (form) => [...form.elements].filter((field) => field.name && field.tagName !== "OUTPUT" && field.tagName !== "TEXTAREA");

  // The fields of the form that the fragment of the address names.
  function restore() {
    const [, name, query] = location.hash.match(/^#(\w+)(?::|%3A)(.*)$/i) ?? [];
    const form = name && document.querySelector(`form[data-calculator="${name}"]`);
    if (!form) return;
    const state = new URLSearchParams(query);
    for (const field of fieldsOf(form)) {
      const value = state.get(field.name);
      const known = field.tagName !== "SELECT" || [...field.options].some((option) => option.value === value);
      if (value !== null && known) field.value = value;
    }
    compute(form);
    form.scrollIntoView();
  }

  function start() {
    for (const form of document.querySelectorAll("form[data-calculator]")) {
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("input", () => {
        compute(form);
        if (form.querySelector("textarea")) return; // an address without the report would show another result
        const state = new URLSearchParams(fieldsOf(form).map((field) => [field.name, field.value]));
        history.replaceState(null, "", `#${form.dataset.calculator}:${state}`);
      });
      compute(form);
    }
    restore();
    addEventListener("hashchange", restore);
  }
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  else start();
})();
