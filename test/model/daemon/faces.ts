import { hash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  digestsIn,
  listedIn,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import type { Answer as Reply, RunningMirror } from "../../running-mirror.ts";
import { Violation } from "../oracle/violation.ts";
import { formatAnswer, type Answer } from "../world/answers.ts";
import { platforms, type ReleaseName } from "../world/documents.ts";
import type { Ask } from "../world/mirror-process.ts";
import { nameOfRelease } from "../world/publisher.ts";
import { hostname, namespace } from "../world/settings.ts";

/** Times that faces are asked again while they differ: what is found out in the background comes between. */
const mostTries = 5;
const pause = 300;

/** Asks a daemon as clients of both protocols do. Throws Violation where the protocols differ, and what the connection throws. */
export async function askFace(
  mirror: RunningMirror,
  asked: Ask,
): Promise<Answer> {
  const { face, type, version, platform } = asked;
  const ask = requestsFor(mirror, type, namespace);
  if (face === "archive")
    return readArchive(await ask.archive(version, { platform }), platform);
  if (face === "index")
    return agree(
      `index.json of ${type}`,
      async () => readList(await ask.index()),
      async () => readList(await mirror.get(`${baseOf(type)}versions`)),
    );
  return agree(
    `VERSION.json of ${nameOfRelease(asked)}`,
    async () => readDocument(await ask.version(version)),
    () => askRegistry(mirror, asked),
  );
}

/** Asks both protocols, again while what the first one answers changes. */
async function agree(
  what: string,
  askMirror: () => Promise<Answer>,
  askRegistry: () => Promise<Answer>,
): Promise<Answer> {
  for (let tried = 1; ; tried++) {
    const answer = await askMirror();
    const other = await askRegistry();
    const isUndecided = [answer, other].some(({ kind }) => kind === "failed");
    if (isUndecided || isSame(answer, other)) return answer;
    if (tried === mostTries)
      throw new Violation(
        4,
        `${what} (${formatAnswer(answer)}) differs from the registry protocol (${formatAnswer(other)})`,
      );
    await delay(pause);
  }
}

function isSame(one: Answer, other: Answer): boolean {
  return textOf(one) === textOf(other);
}

function textOf(answer: Answer): string {
  if (answer.kind === "versions") return answer.versions.toSorted().join(" ");
  if (answer.kind === "packages")
    return [...answer.packages].flat().toSorted().join(" ");
  return answer.kind;
}

/** Asks the registry protocol for a release on every platform. */
async function askRegistry(
  mirror: RunningMirror,
  { type, version }: ReleaseName,
): Promise<Answer> {
  const packages = new Map<string, string>();
  let refused: Answer = { kind: "refused", code: "not-found" };
  for (const platform of platforms) {
    const path = `${version}/download/${platform.replace("_", "/")}`;
    const reply = await mirror.get(`${baseOf(type)}${path}`);
    if (reply.status === 200)
      packages.set(platform, (reply.json() as { shasum: string }).shasum);
    else refused = readRefusal(reply);
    if (refused.kind === "failed") return refused;
  }
  return packages.size === 0 ? refused : { kind: "packages", packages };
}

function readList(reply: Reply): Answer {
  const listed = listedIn(reply);
  return typeof listed === "string"
    ? readRefusal(reply)
    : { kind: "versions", versions: listed };
}

function readDocument(reply: Reply): Answer {
  const digests = digestsIn(reply);
  if (typeof digests === "string") return readRefusal(reply);
  const packages = Object.entries(digests).map(
    ([platform, sha256]) => [platform, sha256 ?? "none"] as const,
  );
  return { kind: "packages", packages: new Map(packages) };
}

function readArchive(reply: Reply, platform: string): Answer {
  if (reply.status !== 200) return readRefusal(reply);
  if (!reply.complete) return { kind: "failed", code: "cut" };
  const packages = new Map([[platform, hash("sha256", reply.body)]]);
  return { kind: "packages", packages };
}

/** Throws Violation for a failure that no code foresaw. */
function readRefusal(reply: Reply): Answer {
  const { status, body } = reply;
  const { code } = reply.json() as { readonly code: string };
  if (status === 500) throw new Violation(0, `500: ${body.toString()}`);
  return { kind: status > 500 || status === 429 ? "failed" : "refused", code };
}

function baseOf(type: string): string {
  return `/v1/providers/${hostname}/${namespace}/${type}/`;
}
