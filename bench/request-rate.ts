import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { keepCa } from "./scratch.ts";
import { processorTimeOf } from "./process-use.ts";
import { findProgram } from "./programs.ts";

const run = promisify(execFile);
const connections = 32;
const generator = join(import.meta.dirname, "request-generator.ts");

export interface Served {
  readonly url: string;
  readonly ca: string;
  readonly pid: number;
}

export interface Rate {
  readonly perSecond: number;
  /** Processor seconds of the server a second: near 1 when the server was the bottleneck. */
  readonly serverBusy: number;
}

/**
 * Requests a second over 32 kept connections, made by another process that
 * sends what terraform sends: wrk where it is installed, since a generator in
 * JavaScript may take longer for a request than the server.
 */
export async function measureRate(
  { url, ca, pid }: Served,
  seconds: number,
): Promise<Rate> {
  const before = processorTimeOf(pid);
  const perSecond =
    findProgram("wrk") === undefined
      ? await runGenerator(url, ca, seconds)
      : await runWrk(url, seconds);
  const serverBusy = (processorTimeOf(pid) - before) / seconds;
  return { perSecond, serverBusy };
}

async function runWrk(url: string, seconds: number): Promise<number> {
  const { stdout } = await run("wrk", [
    ...["-t", "1", "-c", String(connections), "-d", String(seconds)],
    ...["-H", "User-Agent: Terraform/1.14.0 (+https://www.terraform.io)"],
    ...["-H", "Accept-Encoding: gzip", url],
  ]);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
}

async function runGenerator(
  url: string,
  ca: string,
  seconds: number,
): Promise<number> {
  const task = JSON.stringify({
    url,
    caFile: keepCa(ca),
    connections,
    seconds,
  });
  const { stdout } = await run(process.execPath, [generator, task]);
  return Number(stdout);
}
