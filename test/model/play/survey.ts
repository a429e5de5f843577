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

/** Surveys of real processes, of which the last one counts: time passes between two questions, and with it what they knew. */
const mostSurveys = 3;

/** Asks every face for everything of a provider. Throws Violation where they disagree. */
export async function surveyFaces(
  world: World,
  index: number,
  type: string,
): Promise<Survey> {
  const hasClock = world.rim.disk === undefined;
  for (let left = hasClock ? mostSurveys : 1; ; left--)
    try {
      return await surveyOnce(world, index, type);
    } catch (error) {
      const disagrees = error instanceof Violation && error.invariant === 4;
      if (left === 1 || !disagrees) throw error;
    }
}

async function surveyOnce(
  world: World,
  index: number,
  type: string,
): Promise<Survey> {
  // Replicas see what others did once they look again.
  if (world.size > 1) await world.outlast();
  // The first survey may change the list, so a second one follows.
  await surveyReleases(world, index, type);
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
  if (world.takeCommandTurn()) {
    const recalled = await world.askFor(index, "recall", name);
    const expected = withoutGone(world, name, document, recalled);
    expectSame(`${nameOfRelease(name)} for a command`, expected, recalled);
  }
  if (document.kind !== "packages") return;
  for (const [platform, sha256] of document.packages) {
    const archive = await world.askFor(index, "archive", name, platform);
    const packages = new Map([[platform, sha256]]);
    const said = { kind: "packages", packages } as const;
    const expected = withoutGone(world, name, said, archive);
    expectSame(`${nameOfRelease(name)} ${platform}`, expected, archive);
  }
}

/** Leaves out archives that are pinned and that the registry no longer has: those that were never fetched cannot be had. */
function withoutGone(
  { rim, registry }: World,
  name: { readonly type: string; readonly version: string },
  said: Answer,
  got: Answer,
): Answer {
  if (rim.disk !== undefined || said.kind !== "packages") return said;
  const isGone = registry.findFault("release", name) !== undefined;
  const offer = isGone ? undefined : registry.findOffer(name);
  const digests = offer?.signed.digests ?? {};
  const had = got.kind === "packages" ? got.packages : new Map();
  const packages = new Map(
    said.packages
      .entries()
      .filter(
        ([platform, sha256]) =>
          digests[platform] === sha256 || had.has(platform),
      ),
  );
  const isWhole = packages.size === said.packages.size;
  // A command that wants one of them is refused.
  return got.kind === "refused" && !isWhole ? got : { ...said, packages };
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
