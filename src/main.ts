#!/usr/bin/env node
import { keepCompiledCode } from "./main/compiled-code.ts";

// Before anything else is loaded.
keepCompiledCode();

const { runProgram } = await import("./main/program.ts");
await runProgram();
