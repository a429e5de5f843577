"use strict";
// Starts the program inside of the single executable: its modules are assets of
// the executable, found under a folder that does not exist on any machine.
const { createRequire, registerHooks } = require("node:module");
const { getAsset } = require("node:sea");
const threads = require("node:worker_threads");

const entry = "main.js";
const folder = "file:///proc/self/provender/";

registerHooks({
  resolve(specifier, context, next) {
    const isPath = /^(?:[./]|file:)/.test(specifier);
    const from = context.parentURL ?? folder;
    const url = isPath ? URL.parse(specifier, from)?.href : undefined;
    return url?.startsWith(folder)
      ? { url, format: "module", shortCircuit: true }
      : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith(folder)) return next(url, context);
    const source = getAsset(url.slice(folder.length), "utf8");
    return { format: "module", source, shortCircuit: true };
  },
});

// A thread has hooks of its own: it runs this file, too, and then what threads of the pools run.
if (threads.isMainThread) {
  const text = getAsset("executable-start.cjs", "utf8");
  const start = text.replace('entry = "main.js"', 'entry = "worker.js"');
  threads.Worker = class extends threads.Worker {
    constructor(_file, options) {
      super(start, { ...options, eval: true });
    }
  };
}

createRequire(folder)(new URL(entry, folder).pathname);
