import { z } from "zod";
import type { Sample } from "../../telemetry/metrics.ts";
import { explainFailure } from "../doctor/connection.ts";
import { askMirror, type MirrorAccess } from "../doctor/mirror-answer.ts";
import { notRunning, readFigures, type Status } from "./status.ts";

const readiness = z.object({ status: z.literal("ready") });

/** Finds the status of a mirror as its clients reach it. */
export async function findElsewhere(
  access: MirrorAccess,
  signal: AbortSignal,
): Promise<Status> {
  try {
    const answer = await askMirror(access, "../readyz", signal);
    const metrics = await askMirror(access, "../metrics", signal);
    const ready = readiness.safeParse(answer.document).success;
    if (!ready && answer.code === undefined)
      return notRunning(
        `What answers at ${access.base.origin} is no mirror: correct the name and the port.`,
      );
    const isTold = metrics.code === undefined && metrics.document === undefined;
    return {
      ...{ running: true, ready },
      problems: [...answer.errors, ...metrics.errors],
      figures: isTold ? readFigures(parseSamples(metrics.body)) : undefined,
    };
  } catch (error) {
    const { found, remedy } = explainFailure(access.base, error);
    return notRunning(`${found} ${remedy ?? ""}`);
  }
}

/** Parses a text in the format of Prometheus; no label of this program has an escaped character. */
function parseSamples(text: string): readonly Sample[] {
  const lines = text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/gm);
  return Array.from(lines, ([, name = "", written = "", value]) => {
    const pairs = written.matchAll(/(\w+)="([^"]*)"/g);
    const labels = Object.fromEntries(
      Array.from(pairs, ([, key = "", value = ""]) => [key, value]),
    );
    return { name, labels, value: Number(value) };
  });
}
