import { verifyAudit } from "../commands/operate/audit-verify.ts";
import { loadConfiguration } from "../config/load.ts";
import { wireAuditReading } from "../wiring/command.ts";

export interface AuditFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly verify?: boolean;
}

export async function audit(flags: AuditFlags): Promise<void> {
  const { config, json = false } = flags;
  const logs = await wireAuditReading(loadConfiguration({ file: config }));
  const stdout = (text: string) => void process.stdout.write(text);
  process.exitCode = await verifyAudit(logs, { json }, stdout);
}
