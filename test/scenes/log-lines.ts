import { once } from "node:events";
import type { Answer, RunningMirror } from "../running-mirror.ts";

export type LogLine = Readonly<Record<string, unknown>>;

/** The first line of a daemon's log that matches, now or once it is written; `after` so many lines are not looked at. */
export async function awaitLine(
  mirror: RunningMirror,
  matches: (line: LogLine) => boolean,
  after = 0,
): Promise<LogLine> {
  for (;;) {
    const line = mirror.log.slice(after).find(matches);
    if (line !== undefined) return line;
    if (mirror.process.stderr === null) throw new Error("no log");
    await once(mirror.process.stderr, "data");
  }
}

export function awaitMessage(
  mirror: RunningMirror,
  message: string,
): Promise<LogLine> {
  return awaitLine(mirror, ({ msg }) => msg === message);
}

/** The line of the request that had this answer. */
export function awaitLineOf(
  mirror: RunningMirror,
  { headers }: Answer,
): Promise<LogLine> {
  return awaitLine(
    mirror,
    ({ requestId, msg }) =>
      requestId === headers["x-request-id"] && msg !== "audit",
  );
}

/** Asks until the answer is from the disk: a client may have it all before the disk has. */
export async function awaitHit(
  mirror: RunningMirror,
  path: string,
): Promise<void> {
  let outcome: unknown;
  do ({ outcome } = await awaitLineOf(mirror, await mirror.get(path)));
  while (outcome !== "hit");
}
