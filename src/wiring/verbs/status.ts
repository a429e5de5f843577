import { z } from "zod";
import { runExplain } from "../../commands/operate/explain.ts";
import { runStatus } from "../../commands/operate/status.ts";
import { parseWhySpec } from "../../mirror/why/question.ts";
import { readAuditHeads } from "../audit.ts";
import { wireExplanations } from "../core.ts";
import { hostsOf } from "./hosts.ts";
import { flag, verb } from "./verb.ts";

export const status = verb(
  { json: flag },
  async ({ json }, { daemon, layout, configuration }, { stdout, signal }) => {
    const { directory } = layout;
    const audit = await readAuditHeads(layout).catch(() => []);
    const subject = {
      ...{ daemon, directory, audit },
      ...{ access: undefined, url: daemon?.url },
      pid: daemon && process.pid,
      policyMode: configuration.policy.mode,
    };
    return runStatus(subject, { json, signal }, stdout);
  },
);

export const explain = verb(
  { spec: z.string(), json: flag },
  ({ spec, json }, mirror, { stdout }) => {
    const { configuration } = mirror;
    const question = parseWhySpec(spec, hostsOf(configuration));
    const explanations = wireExplanations(configuration, mirror);
    const ask = explanations.explain.bind(explanations);
    return runExplain(ask, question, json, stdout);
  },
);
