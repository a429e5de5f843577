import { printAudit } from "../../commands/audit/read.ts";
import { anyHostOf } from "./hosts.ts";
import { flag, text, verb } from "./verb.ts";

const question = {
  ...{ spec: text, since: text, until: text },
  ...{ asker: text, verdict: text, event: text },
};

export const audit = verb(
  { ...question, json: flag },
  async ({ json, ...question }, { telemetry, configuration }, { print }) => {
    const { decisions, requests } = telemetry.auditLogs;
    const options = { json, now: new Date(), hosts: anyHostOf(configuration) };
    await printAudit([decisions, requests], question, options, print);
    return 0;
  },
);
