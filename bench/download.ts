import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { scratch } from "./scratch.ts";

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
  const caFile = join(scratch("ca"), "ca.pem");
  writeFileSync(caFile, ca);
  const task = JSON.stringify({ url, caFile, bytes, clients });
  const { stdout } = await run(process.execPath, [downloader, task]);
  return JSON.parse(stdout) as Download;
}
