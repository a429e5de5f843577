#!/usr/bin/env node
// Every Node must be able to parse this file, to report that it is too old.
// Nothing is imported before that.
const needed = 24;
const found = process.versions.node;

if (Number.parseInt(found) < needed) {
  process.stderr.write(
    `provender: needs Node ${needed}, found ${found}: install Node ${needed}, or a package of provender that brings its own.\n`,
  );
  process.exitCode = 2;
} else void import("./main/program.ts").then((main) => main.runProgram());

export {};
