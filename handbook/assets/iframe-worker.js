/* Search also works when the handbook is opened from disk.  Browsers start no worker from a file, so the worker's script
   runs in a hidden frame.  Nothing is written as an inline script: the content security policy allows none. */
(() => {
  if (location.protocol !== "file:") return;

  function load(frame, url) {
    return new Promise((loaded, failed) => {
      const script = frame.document.createElement("script");
      script.src = url;
      script.onload = loaded;
      script.onerror = () => failed(new Error(`${url} could not be read`));
      frame.document.body.appendChild(script);
    });
  }

  class FileWorker extends EventTarget {
    constructor(url) {
      super();
      this.element = document.createElement("iframe");
      this.element.hidden = true;
      document.body.appendChild(this.element);
      this.frame = this.element.contentWindow;
      this.frame.document.open();
      this.frame.document.write("<html><body></body></html>");
      this.frame.document.close();
      this.frame.importScripts = (...urls) =>
        urls.reduce((before, one) => before.then(() => load(this.frame, one)), Promise.resolve());
      this.frame.postMessage = (data) => setTimeout(() => this.tell("message", { data }));
      this.ready = load(this.frame, url);
      this.ready.catch((error) => this.tell("error", { error }));
    }

    tell(kind, facts) {
      const event = kind === "error" ? new ErrorEvent(kind, facts) : new MessageEvent(kind, facts);
      this.dispatchEvent(event);
      this[`on${kind}`]?.(event);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.element.remove();
    }
  }

  window.Worker = FileWorker;
})();
