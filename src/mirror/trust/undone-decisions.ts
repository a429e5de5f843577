import type { Hostname } from "../../address/hostname.ts";
import { isFailure } from "../../errors/index.ts";
import { readDecisions } from "../../store/database/audit-log.ts";
import type { WrittenEntry } from "../../telemetry/audit-entry.ts";
import type { TrustStore } from "./trust-store.ts";

/** An operator's decision that the audit log has, and the trust records have not, or no longer as it was. */
export interface UndoneDecision {
  readonly decision: keyof typeof verbs;
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

const verbs = { approved: "approve", revoked: "revoke", forgotten: "forget" };

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
  // The last line about one key in one scope, or about one content of one release.
  const last = new Map<string, UndoneDecision>();
  for (const entry of await readDecisions(log)) {
    const line = readLine(entry);
    if (line !== undefined)
      last.set(`${line.subject} ${line.key ?? line.content}`, line);
  }
  const undone: UndoneDecision[] = [];
  for (const line of last.values())
    try {
      if (!(await holds(line, trust))) undone.push(line);
    } catch (error) {
      if (!isFailure(error, "record-unreadable")) throw error;
    }
  return undone;
}

function readLine(entry: WrittenEntry): UndoneDecision | undefined {
  const { event: decision, at, operator: by, version, fingerprint } = entry;
  if (
    decision !== "approved" &&
    decision !== "revoked" &&
    decision !== "forgotten"
  )
    return undefined;
  const name = String(entry.provider ?? entry.module);
  const subject = version === undefined ? name : `${name}@${version}`;
  const digest = /^(?:SHA256SUMS|SHA-256|commit) ([0-9a-f]+)$/;
  const content = digest.exec(String(entry.detail))?.[1];
  const key = content === undefined ? String(fingerprint) : undefined;
  const about = content
    ? `${subject} ${content}`
    : `--key ${key} --for ${subject}`;
  const repeat = `provender trust ${verbs[decision]} ${about}`;
  return { decision, subject, key, content, at, by, repeat };
}

/** A later decision than the log has is another replica's, or lost its line in a crash. */
async function holds(
  { decision, subject, key, content, at }: UndoneDecision,
  trust: TrustStore,
): Promise<boolean> {
  const [name = "", version = null] = subject.split("@");
  const [hostname = "", namespace = "", ...parts] = name.split("/");
  const type = parts.length === 0 ? null : parts.join("/");
  const place = { hostname: hostname as Hostname, namespace };
  const { keys, contents } = (await trust.read(place)).decisions;
  const found = [...keys, ...contents].find(
    (one) =>
      one.type === type &&
      one.version === version &&
      ("fingerprint" in one ? one.fingerprint : one.sha256sums) ===
        (key ?? content),
  );
  if (found === undefined) return decision === "forgotten";
  return found.decision === decision || found.at > at;
}
