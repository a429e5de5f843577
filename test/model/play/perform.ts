import { versions } from "../world/documents.ts";
import { formatAnswer } from "../world/answers.ts";
import type { Action } from "../world/actions.ts";
import { nameOfRelease } from "../world/publisher.ts";
import { Violation } from "../oracle/violation.ts";
import type { World } from "../world/world.ts";
import { approve, decideKey, withdraw } from "./decide.ts";
import { importBundleOf } from "./import.ts";
import { recover } from "./recover.ts";
import { surveyFaces } from "./survey.ts";
import { tempt } from "./tempt.ts";

/** Carries out one step, and says what came of it. Throws Violation. */
export async function perform(world: World, action: Action): Promise<string> {
  const { publisher, machine, oracle, rim } = world;
  switch (action.kind) {
    case "ask":
      return formatAnswer(await world.ask(action.process, action));
    case "burst":
      return burst(world, action);
    case "survey":
      return formatAnswer(
        (await surveyFaces(world, action.process, action.type)).listed,
      );
    case "tempt":
      await tempt(world, action.process, action.lie);
      return "left no trace";
    case "recover":
      await recover(world, 0);
      return "everything good is served";
    case "publish":
    case "recreate":
    case "widen":
    case "sign-again": {
      const other = `${"0".repeat(64)}  manifest.json\n`;
      const extra = action.variant % 2 === 0 ? "" : other;
      publisher.make(action.kind, action, world.now, extra);
      return nameOfRelease(action);
    }
    case "rotate":
      publisher.rotate(publisher.signer === "K2" ? "K1" : "K2");
      return `${String(publisher.signer)} signs`;
    case "retire":
      publisher.retireOldKeys();
      return publisher.keys.join(" ");
    case "offer":
    case "replay":
    case "keys":
    case "hide":
    case "fail":
    case "down":
    case "heal":
      world.lie(action);
      return "";
    case "key":
      return decideKey(world, action);
    case "approve":
      return approve(world, action);
    case "withdraw":
      return withdraw(world, action);
    case "import":
      return importBundleOf(world, action);
    case "flood":
      return flood(world, action);
    case "pass":
      machine.clock.pass(action.milliseconds);
      return "";
    case "step":
      machine.clock.step(action.milliseconds);
      oracle.doubts.noteStep(action.milliseconds, machine.clock.monotonic());
      return "";
    case "restart":
      rim.restart(action.process);
      return "";
    case "crash":
      rim.crash(action.process, action);
      return "";
    case "disk":
      rim.disk.isFull = action.isFull;
      return "";
    case "lose":
    case "damage":
      return world.spoil(action.which, action.kind);
    case "configure":
      world.configure(action.change);
      return "";
  }
}

/** Candidates that are kept of a release (docs/trust.md, rule 2). */
const mostCandidates = 8;

/** Offers one document after the other, each with a date of its own. */
async function flood(
  world: World,
  { lie, count, process }: Action & { readonly kind: "flood" },
): Promise<string> {
  for (let variant = 0; variant < count; variant++) {
    world.lie({ ...lie, variant, dated: "now" });
    world.outlast();
    await world.askFor(process, "version", lie);
  }
  world.registry.withdraw(lie);
  const pending = await world.rim.listPending(lie);
  if (pending.length > mostCandidates)
    throw new Violation(6, `${pending.length} candidates of one release`);
  return `${count} offers`;
}

/** Has clients ask at once, while storage and origins take their time and the registry may change its mind. */
async function burst(
  world: World,
  action: Action & { readonly kind: "burst" },
): Promise<string> {
  const { oracle, rim } = world;
  const { asks, midway } = action;
  for (const { type } of asks) oracle.noteAsked(type, versions);
  const since = world.machine.clock.monotonic();
  const all = await rim.askAtOnce(action, () => {
    if (midway !== undefined) world.lie(midway);
    for (const { type } of asks) oracle.noteAsked(type, versions);
  });
  for (const [at, asked] of asks.entries()) {
    const answer = all[at];
    if (answer !== undefined) world.judge(asked, answer, since);
  }
  return all.map(formatAnswer).join(" | ");
}
