import { delimiter } from "node:path";
import { findOnPath } from "../test/on-path.ts";

/** Programs that are measured against, or that measure. */
export type Program = "nginx" | "terraform" | "unzip" | "sha256sum" | "wrk";

// nginx is where only administrators' PATH leads.
process.env.PATH = [process.env.PATH, "/usr/sbin"].join(delimiter);

/** The path of a program, or undefined when it is not installed. */
export const findProgram = (name: Program) => findOnPath(name);
