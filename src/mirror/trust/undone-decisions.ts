import type { Hostname } from "../../address/hostname.ts";
import { isFailure } from "../../errors/index.ts";
import { readDecisions } from "../../store/database/audit-log.ts";
import type { WrittenEntry } from "../../telemetry/audit-entry.ts";
import type { Decisions, KeyScope } from "../../trust/decisions.ts";
import type { TrustStore } from "./trust-store.ts";

/** An operator's decision that the audit log has, and the trust records have not, or no longer as it was. */
export interface UndoneDecision {
  readonly decision: "approved" | "revoked" | "forgotten";
  /** HOSTNAME/NAMESPACE, a provider or a module of it, with `@VERSION` for one release. */
  readonly subject: string;
  /** Fingerprint of a key, or digest of a content. */
  readonly key: string | undefined;
  readonly content: string | undefined;
  /** RFC 3339. */
  readonly at: string;
  readonly by: string | undefined;
  /** The command that makes it again. */
  readonly repeat: string;
}

/** The last line about one key in one scope, or about one content of one release. */
interface Line extends Omit<UndoneDecision, "repeat"> {
  readonly hostname: Hostname;
  readonly namespace: string;
  readonly type: string | null;
  readonly version: string | null;
}

/**
 * Compares the operators' decisions as the file `log` has them, oldest first, with the trust
 * records. An older backup of these that was put back takes decisions back, and
 * what was revoked is served again. A record that cannot be read is not compared:
 * it refuses by itself.
 */
export async function findUndone(
  log: string,
  trust: TrustStore,
): Promise<readonly UndoneDecision[]> {
  const last = new Map<string, Line>();
  for (const entry of await readDecisions(log)) {
    const line = readLine(entry);
    if (line !== undefined) last.set(nameOf(line), line);
  }
  const undone: UndoneDecision[] = [];
  for (const line of last.values()) {
    const decisions = await findDecisions(trust, line);
    if (decisions !== undefined && !holds(line, decisions))
      undone.push({ ...line, repeat: formatCommand(line) });
  }
  return undone;
}

function readLine(entry: WrittenEntry): Line | undefined {
  const { event, at, operator: by, version, fingerprint, detail } = entry;
  if (event !== "approved" && event !== "revoked" && event !== "forgotten")
    return undefined;
  const name = String(entry.provider ?? entry.module);
  const [hostname = "", namespace = "", ...type] = name.split("/");
  const [, content] =
    /^(?:SHA256SUMS|SHA-256|commit) ([0-9a-f]+)$/.exec(String(detail)) ?? [];
  const key = content === undefined ? String(fingerprint) : undefined;
  return {
    ...{ decision: event, key, content, at, by },
    subject: version === undefined ? name : `${name}@${version}`,
    hostname: hostname as Hostname,
    namespace,
    type: type.length === 0 ? null : type.join("/"),
    version: version ?? null,
  };
}

const nameOf = ({ subject, key, content }: Line) =>
  `${subject} ${key ?? content}`;

async function findDecisions(
  trust: TrustStore,
  line: Line,
): Promise<Decisions | undefined> {
  try {
    return (await trust.read(line)).decisions;
  } catch (error) {
    if (isFailure(error, "record-unreadable")) return undefined;
    throw error;
  }
}

/** A later decision than the log has is another replica's, or lost its line in a crash. */
function holds(line: Line, { keys, contents }: Decisions): boolean {
  const isSame = (one: KeyScope) =>
    one.type === line.type && one.version === line.version;
  const found =
    line.key === undefined
      ? contents.find((one) => isSame(one) && one.sha256sums === line.content)
      : keys.find((one) => isSame(one) && one.fingerprint === line.key);
  if (found === undefined) return line.decision === "forgotten";
  return found.decision === line.decision || found.at > line.at;
}

function formatCommand({ decision, subject, key, content }: Line): string {
  const verbs = { approved: "approve", revoked: "revoke", forgotten: "forget" };
  const verb = verbs[decision];
  return key === undefined
    ? `provender trust ${verb} ${subject} ${content}`
    : `provender trust ${verb} --key ${key} --for ${subject}`;
}
