import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { endingWithTests } from "../child-process.ts";

const program = join(import.meta.dirname, "open-loop-process.ts");

interface Load {
  readonly paths: readonly string[];
  /** Requests a second, independent of earlier ones. */
  readonly rate: number;
  readonly seconds: number;
}

/** Milliseconds that answers took, from when they were due, the fastest first; asked for over HTTP by a process of its own. */
export async function ask(
  url: string,
  { paths, rate, seconds }: Load,
): Promise<readonly number[]> {
  const child = spawn(
    ...endingWithTests(process.execPath, [
      ...[program, url, `${rate}`, `${seconds}`, ...paths],
    ]),
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const taken = JSON.parse(await text(child.stdout)) as number[];
  return taken.toSorted((a, b) => a - b);
}
