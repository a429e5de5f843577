import { printAudit } from "../../commands/audit/read.ts";
import { verifyAudit } from "../../commands/audit/verify.ts";
import { failure } from "../../errors/index.ts";
import { anyHostOf } from "./hosts.ts";
import { flag, text, texts, verb } from "./verb.ts";

const question = {
  ...{ spec: text, since: text, until: text },
  ...{ asker: text, verdict: text, event: text },
};

export const audit = verb(
  { ...question, verify: flag, head: texts.default([]), json: flag },
  async (
    { verify, head, json, ...question },
    { telemetry, configuration },
    { stdout, print },
  ) => {
    const isFiltered = Object.values(question).some((one) => one !== undefined);
    if (verify && isFiltered)
      throw failure(
        "arguments",
        "audit --verify",
        "checks whole logs",
        "leave out what chooses lines, or leave out --verify",
      );
    if (head.length > 0 && !verify)
      throw failure("arguments", "audit --head", "needs --verify", "add it");
    const { decisions, requests } = telemetry.auditLogs;
    const logs = [decisions, requests];
    if (verify) return verifyAudit(logs, { json, head }, stdout);
    const hosts = anyHostOf(configuration);
    await printAudit(logs, question, { json, now: new Date(), hosts }, print);
    return 0;
  },
);
