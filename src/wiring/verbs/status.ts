import { z } from "zod";
import { runExplain } from "../../commands/operate/explain.ts";
import {
  findNeeds,
  notRunning,
  printStatus,
  readFigures,
  type Status,
} from "../../commands/operate/status.ts";
import { explain as explainHere, parseWhySpec } from "../../mirror/why/why.ts";
import { hostsOf } from "./hosts.ts";
import { flag, verb, type RunningDaemon } from "./verb.ts";

export const status = verb(
  { json: flag },
  async ({ json }, { daemon, layout, configuration }, { stdout }) => {
    const { directory } = layout;
    const policyMode = configuration.policy.mode;
    const running = daemon && { url: daemon.url, pid: process.pid };
    const subject = { ...running, directory, policyMode };
    const found = await (daemon === undefined
      ? notRunning(
          `No daemon works on ${directory}: start it with "provender serve" or its service.`,
        )
      : findStatus(daemon, configuration.storage.minFree));
    return printStatus(subject, found, json, stdout);
  },
);

async function findStatus(
  daemon: RunningDaemon,
  minFree: number,
): Promise<Status> {
  const problems = await daemon.checkReady().then(
    () => [],
    (error: unknown) => [(error as Error).message],
  );
  const samples = await daemon.readSamples();
  const ready = problems.length === 0;
  const needs = findNeeds(samples, minFree, new Date());
  const figures = readFigures(samples);
  return { running: true, ready, problems, needs, figures };
}

export const explain = verb(
  { spec: z.string(), json: flag },
  ({ spec, json }, mirror, { stdout }) => {
    const question = parseWhySpec(spec, hostsOf(mirror.configuration));
    const ask = () => explainHere(mirror, question);
    return runExplain(ask, question, json, stdout);
  },
);
