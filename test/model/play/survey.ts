import { versions } from "../world/documents.ts";
import { Violation } from "../oracle/violation.ts";
import { formatAnswer, type Answer } from "../world/answers.ts";
import { nameOfRelease } from "../world/publisher.ts";
import { type World } from "../world/world.ts";

/** Answers to clients of a provider: the index, and the packages by version. */
export interface Survey {
  readonly listed: Answer;
  readonly served: ReadonlyMap<string, Answer>;
}

/** Asks the index of a provider, every VERSION.json, and the index again. */
export async function surveyReleases(
  world: World,
  index: number,
  type: string,
): Promise<Survey> {
  const served = new Map<string, Answer>();
  await world.askFor(index, "index", { type, version: "" });
  for (const version of versions)
    served.set(
      version,
      await world.askFor(index, "version", { type, version }),
    );
  const listed = await world.askFor(index, "index", { type, version: "" });
  return { listed, served };
}

/** Asks every face for everything of a provider. Throws Violation where they disagree. */
export async function surveyFaces(
  world: World,
  index: number,
  type: string,
): Promise<Survey> {
  // Replicas see what others did once they look again.
  if (world.size > 1) world.outlast();
  // The first survey may change the list, and a command asks for what came out since, so a second one follows.
  const { served } = await surveyReleases(world, index, type);
  for (const version of served.keys())
    await world.askFor(index, "recall", { type, version });
  const survey = await surveyReleases(world, index, type);
  for (const [version, answer] of survey.served) {
    const isAsked = world.oracle.isAnswering(type) || world.settings.offline;
    if (isAsked && !world.oracle.first.isLost({ type, version }))
      expectListed(type, version, survey.listed, answer);
    await expectSameFaces(world, index, { type, version }, answer);
  }
  return survey;
}

function expectListed(
  type: string,
  version: string,
  listed: Answer,
  answer: Answer,
): void {
  if (!isDecided(listed) || !isDecided(answer)) return;
  const isListed =
    listed.kind === "versions" && listed.versions.includes(version);
  const isServed = answer.kind === "packages";
  const name = nameOfRelease({ type, version });
  if (isListed && !isServed)
    throw new Violation(4, `${name} is listed, and refused`);
  if (isServed && !isListed)
    throw new Violation(4, `${name} is served, and not listed`);
}

/** Archives and named versions follow VERSION.json. */
async function expectSameFaces(
  world: World,
  index: number,
  name: { readonly type: string; readonly version: string },
  document: Answer,
): Promise<void> {
  if (!isDecided(document)) return;
  const recalled = await world.askFor(index, "recall", name);
  expectSame(`${nameOfRelease(name)} for a command`, document, recalled);
  if (document.kind !== "packages") return;
  for (const [platform, sha256] of document.packages) {
    const archive = await world.askFor(index, "archive", name, platform);
    const packages = new Map([[platform, sha256]]);
    const said = { kind: "packages", packages } as const;
    expectSame(`${nameOfRelease(name)} ${platform}`, said, archive);
  }
}

function expectSame(what: string, expected: Answer, got: Answer): void {
  if (!isDecided(got)) return;
  if (!isSameAnswer(expected, got))
    throw new Violation(
      4,
      `${what} differs from its VERSION.json (${formatAnswer(got)})`,
    );
}

export function isSameAnswer(one: Answer, other: Answer): boolean {
  if (one.kind !== "packages" || other.kind !== "packages")
    return one.kind === other.kind;
  return (
    one.packages.size === other.packages.size &&
    one.packages
      .entries()
      .every(([platform, sha256]) => other.packages.get(platform) === sha256)
  );
}

/** False where an origin, a record or the disk failed, or the process died. */
export function isDecided({ kind }: Answer): boolean {
  return kind !== "failed" && kind !== "dead";
}
