import { execFile } from "node:child_process";
import { Agent } from "node:https";
import { join } from "node:path";
import { promisify } from "node:util";
import { fetchFrom } from "../test/running-mirror.ts";
import { keepCa } from "./scratch.ts";

const run = promisify(execFile);
const downloader = join(import.meta.dirname, "downloader.ts");

/** Milliseconds since the clients started, all at once. */
export interface Download {
  /** Until the first client had its first byte. */
  readonly firstByte: number;
  /** Until the last client had its last byte. */
  readonly total: number;
}

/** Downloads `url` with `clients` connections from another process; rejects unless all got `bytes` bytes. */
export async function download(
  url: string,
  ca: string,
  bytes: number,
  clients = 1,
): Promise<Download> {
  const task = JSON.stringify({ url, caFile: keepCa(ca), bytes, clients });
  const { stdout } = await run(process.execPath, [downloader, task]);
  return JSON.parse(stdout) as Download;
}

/** The body of a document; rejects unless it comes whole and with status 200. */
export async function fetchDocument(
  url: string,
  ca: string,
  agent: Agent = new Agent({ ca }),
): Promise<Buffer> {
  const answer = await fetchFrom(new URL(url), agent, {});
  if (answer.status !== 200 || !answer.complete)
    throw new Error(`${answer.status} of ${url}: ${answer.body.toString()}`);
  return answer.body;
}
