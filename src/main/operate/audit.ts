import { printAudit } from "../../commands/audit/read.ts";
import { verifyAudit } from "../../commands/audit/verify.ts";
import { loadConfiguration } from "../../config/load.ts";
import { ArgumentsInvalid, isBucketFailure } from "../../errors/index.ts";
import { wireAuditReading } from "../../wiring/commands/audit.ts";
import type { Flags } from "../flags.ts";
import { output } from "../output.ts";

export interface AuditFlags extends Flags {
  readonly verify?: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly asker?: string;
  readonly verdict?: string;
  readonly event?: string;
}

export async function audit(
  spec: string | undefined,
  { config, json = false, verify = false, ...flags }: AuditFlags,
): Promise<void> {
  const filters = [spec, ...Object.values(flags)];
  if (verify && filters.some((filter) => filter !== undefined))
    throw new ArgumentsInvalid(
      "audit --verify",
      "checks whole logs: leave out what chooses lines, or leave out --verify.",
    );
  const { own, openShared } = await wireAuditReading(
    loadConfiguration({ file: config }),
  );
  await using shared = await (verify
    ? openShared()
    : openShared().catch(passOver));
  const logs = [...own, ...(shared?.logs ?? [])];
  if (verify)
    process.exitCode = await verifyAudit(logs, { json }, output.stdout);
  else {
    const options = { json, now: new Date() };
    await printAudit(logs, { spec, ...flags }, options, print);
  }
}

/** What this replica has is worth reading on its own. */
function passOver(error: unknown): undefined {
  if (!isBucketFailure(error)) throw error;
  output.stderr(
    `provender: The logs of other replicas are not read: ${error.message}\n`,
  );
}

function print(text: string): Promise<boolean> {
  return new Promise((resolve) =>
    process.stdout.write(text, (error) => resolve(error == null)),
  );
}
