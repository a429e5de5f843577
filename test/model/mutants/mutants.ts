import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

// npm run model:mutants -- [--sequences N] [--seed S] [--only WORDS]: plants one
// fault after the other in a copy of the trust core, and has the model find it.

/** A text that is in the file once, and what takes its place: nothing, where it is alone. */
type Fault = string | readonly [search: string, replacement: string];

/** Faults planted by hand, by file in `src/trust` and by the rule that no longer holds. */
const faults: Readonly<Record<string, Readonly<Record<string, Fault>>>> = {
  "key-verdict.ts": {
    "a revoked key counts for nothing": `if (findKeyDecision(namespace.decisions, "revoked", name, signedBy))
    return refuse("revoked");`,
    "pins that are configured are the only keys": [
      "if (rules.pins !== undefined)",
      "if (rules.pins?.size === 0)",
    ],
    "newKeys: refuse takes no key": `if (rules.newKeys === "refuse") return refuse("not-pinned");`,
    "the key of the provider's first contact counts":
      "contact?.key === fingerprint ||",
    "the namespace's first key counts for all its providers":
      "namespace.firstKey?.fingerprint === fingerprint ||",
    "a first signer counts for its own provider alone": [
      "(key) => key.type === name.type && key.fingerprint === fingerprint",
      "(key) => key.fingerprint === fingerprint",
    ],
    "an approved key counts": [
      `if (findKeyDecision(namespace.decisions, "approved", name, signedBy))`,
      `if (findKeyDecision(namespace.decisions, "approved", name, undefined))`,
    ],
    "a signer is no witness of platforms that it added": [
      "witnesses.some((one) => one.content.get(platform) === sha256)",
      "platform !== sha256",
    ],
    "a revoked key is no witness of the digests that it pinned": [
      "pinned.sha256sums) &&\n      judgeKey(question, one).accepted",
      "pinned.sha256sums)",
    ],
    "another signer of pinned digests is reported": [
      `accept("same-digests", { alarms: true })`,
      `accept("same-digests")`,
    ],
    "an old date excuses only versions of first contact":
      "contact.versions.has(name.version) &&",
    "only an old date excuses":
      "signedAt.getTime() <= contact.at.getTime() + clockGrace &&",
    "an old key that first contact did not see is reported": [
      `accept("existed", { alarms: !contact.published.has(signedBy) })`,
      `accept("existed")`,
    ],
    "only a provider without a signer has a first signer": [
      `contact.key === undefined &&
    !namespace`,
      "!namespace",
    ],
    "a provider has one first signer": [
      `contact.key === undefined &&
    !namespace.providerKeys.some(({ type }) => type === name.type)`,
      "contact.key === undefined",
    ],
    "a first signer is reported, also after a write that failed": `if (isFirstSigner(question, signedBy))
    return accept("first-key", { alarms: true });`,
    "nothing unsigned follows what was signed, for a release":
      "pinned?.signedBy !== undefined || ",
    "nothing unsigned follows what was signed, for a provider": [
      "contact.key === undefined && (isPinned || isFree(question))",
      "true",
    ],
    "keys that are added take nothing away that was pinned unsigned": [
      "(isPinned || isFree(question))",
      "isFree(question)",
    ],
    "a version of an unsigned first contact is served unsigned": [
      `if (contact.versions.has(name.version))
    return`,
      `if (contact.versions.size === 0)
    return`,
    ],
    "newKeys: accept alone takes an unknown key": [
      `rules.newKeys === "accept"`,
      `rules.newKeys !== "refuse"`,
    ],
    "a new key that is taken is reported": [
      `accept("new", { alarms: true })`,
      `accept("new")`,
    ],
  },
  "settle.ts": {
    "only an acceptable signer pins": [
      `one.isGood &&
      judgeKey(question, one).accepted &&
      (!enforcesAge`,
      `one.isGood &&
      (!enforcesAge`,
    ],
    "only evidence that holds pins": [
      `one.isGood &&
      judgeKey(question, one).accepted &&
      (!enforcesAge`,
      `judgeKey(question, one).accepted &&
      (!enforcesAge`,
    ],
    "what is pinned stays pinned":
      "if (release.pinned !== undefined) return undefined;",
    "only an acceptable signer adds platforms": [
      `isInAgreement({ ...pinned, content }, one) &&
      judgeKey(question, one).accepted`,
      "isInAgreement({ ...pinned, content }, one)",
    ],
    "people hear of each verdict": [
      "events.push(event);",
      `events.push({ kind: "healed", evidence: one });`,
    ],
    "the first signer becomes the provider's own": [
      `notedBy(event) === "first-key"`,
      `notedBy(event) === "not-pinned"`,
    ],
  },
  "standing.ts": {
    "only an acceptable signer is served": [
      "isInAgreement(pinned, one) && isAccepted(one)",
      "isInAgreement(pinned, one)",
    ],
    "an approved content does not outweigh a revoked key": `if (findKeyDecision(namespace.decisions, "revoked", name, signedBy))
    return false;`,
    "an approved content does not outweigh pins": [
      "return signedBy !== undefined && rules.pins.has(signedBy);",
      "return signedBy !== undefined;",
    ],
    "an approved content is served": [
      "if (content === undefined) continue;",
      "if (content === undefined || content.size > 0) continue;",
    ],
  },
  "content.ts": {
    "contents agree where both name the same digests": [
      "known === undefined || known === sha256",
      "known === undefined || known !== undefined",
    ],
  },
  "decisions.ts": {
    "a decision on a provider is about that provider":
      "(key.type === null || key.type === release.type) &&",
    "a decision on a release is about that release": `&&
      (key.version === null || key.version === release.version)`,
    "a later decision replaces an earlier one": [
      "? { keys: [...keys, decision], contents }",
      "? { keys: [...decisions.keys, decision], contents }",
    ],
    "an approval is about one release": [
      "contents.filter((one) => isSameRelease(one, release))",
      "contents.filter((one) => one.type === release.type)",
    ],
    "a decision that is taken back is gone": [
      "const isOther = (one: Subject) => !isSame(one, subject);",
      "const isOther = (one: Subject) => one !== subject;",
    ],
  },
  "first-contact.ts": {
    "a later first contact teaches its own provider alone": [
      "namespace: firstKey ? namespace :",
      "namespace: isDecided ? namespace :",
    ],
    "a first signer that is known stays": [
      "return namespace.providerKeys.some((key) => key.type === type)",
      "return namespace.providerKeys.length > 9",
    ],
  },
  "candidates.ts": {
    "candidates of a release are few": [
      "const mostOfRelease = 8;",
      "const mostOfRelease = 80;",
    ],
    "what is decided needs no decision":
      "if (decided.some((one) => one.sha256sums === sha256sums)) return false;",
  },
};

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "25000" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});
const root = join(import.meta.dirname, "../../..");
const copy = mkdtempSync(join(tmpdir(), "model-mutants-"));
process.once("exit", () => rmSync(copy, { recursive: true }));
for (const part of ["src", "test", "package.json"])
  cpSync(join(root, part), join(copy, part), { recursive: true });
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

let [chosen, survivors] = [0, 0];
for (const [file, own] of Object.entries(faults))
  for (const [loses, fault] of Object.entries(own)) {
    if (!loses.includes(values.only)) continue;
    chosen++;
    if (!isFound(file, loses, fault)) survivors++;
  }
console.log(`${chosen} mutants, ${survivors} survived`);
if (survivors > 0) process.exitCode = 1;

/** Says whether the model finds a fault, and after how many sequences. */
function isFound(file: string, loses: string, fault: Fault): boolean {
  const [search, replacement] = typeof fault === "string" ? [fault, ""] : fault;
  const path = join(copy, "src/trust", file);
  const sound = readFileSync(path, "utf8");
  const parts = sound.split(search);
  if (parts.length !== 2)
    throw new Error(
      `${file}: expected once, got ${parts.length - 1}: ${search}`,
    );
  writeFileSync(path, parts.join(replacement));
  const { sequences, seed } = values;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      ...[join(copy, "test/model/model.ts"), "--until-broken"],
      ...["--threads", "1", "--sequences", sequences, "--seed", seed],
    ],
    { encoding: "utf8" },
  );
  writeFileSync(path, sound);
  const count = /^(\d+) sequences, /m.exec(stdout)?.[1];
  if (count === undefined) throw new Error(`${loses}: ${stderr}`);
  const [report = ""] = stdout.split("\n");
  const said = status === 0 ? `SURVIVED ${count}` : `found after ${count}`;
  console.log(
    `${said}: ${loses} (${file})${status === 0 ? "" : `: ${report}`}`,
  );
  return status !== 0;
}
