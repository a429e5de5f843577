import { printAudit } from "../../commands/audit/read.ts";
import { verifyAudit } from "../../commands/audit/verify.ts";
import { loadConfiguration } from "../../config/load.ts";
import { failure } from "../../errors/index.ts";
import { wireAuditLogs } from "../../wiring/audit.ts";
import { openLayout } from "../../wiring/commands/layout.ts";
import type { Flags } from "../flags.ts";
import { anyHostOf } from "../options.ts";
import { output } from "../output.ts";

export interface AuditFlags extends Flags {
  readonly verify?: boolean;
  readonly head?: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly asker?: string;
  readonly verdict?: string;
  readonly event?: string;
}

export async function audit(
  spec: string | undefined,
  { config, json = false, verify = false, head = [], ...flags }: AuditFlags,
): Promise<void> {
  const filters = [spec, ...Object.values(flags)];
  if (verify && filters.some((filter) => filter !== undefined))
    throw failure(
      "arguments",
      "audit --verify",
      "checks whole logs",
      "leave out what chooses lines, or leave out --verify",
    );
  if (head.length > 0 && !verify)
    throw failure("arguments", "audit --head", "needs --verify", "add it");
  const configuration = loadConfiguration({ file: config });
  const layout = await openLayout(configuration);
  const { decisions, requests } = wireAuditLogs(layout);
  const logs = [decisions, requests];
  if (verify)
    process.exitCode = await verifyAudit(logs, { json, head }, output.stdout);
  else {
    const options = { json, now: new Date(), hosts: anyHostOf(configuration) };
    await printAudit(logs, { spec, ...flags }, options, print);
  }
}

function print(text: string): Promise<boolean> {
  return new Promise((resolve) =>
    process.stdout.write(text, (error) => resolve(error == null)),
  );
}
