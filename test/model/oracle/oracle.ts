import type { Face } from "../world/answers.ts";
import {
  agree,
  nameOfRelease,
  versions,
  type ReleaseName,
  type SignedText,
} from "../world/documents.ts";
import type { Offer } from "../world/registry.ts";
import { modelTimes, type Settings } from "../world/settings.ts";
import {
  fingerprintOf,
  isStrict,
  keyNames,
  type KeyName,
} from "../world/toy-keys.ts";
import type { World } from "../world/world.ts";
import { findReason, type Reason } from "./acceptance.ts";
import {
  Contacts,
  showBundle,
  showContact,
  showOffer,
  type Contact,
} from "./contacts.ts";
import { Decided } from "./decided.ts";
import { FirstServed, Shown, type ShownText, TakenBack } from "./history.ts";
import { expectThat, Violation } from "./violation.ts";

interface Asked extends ReleaseName {
  readonly face: Face;
  readonly process: number;
}

interface ServedArchive extends Asked {
  readonly platform: string;
  readonly sha256: string;
}

interface Reasoned {
  readonly reason: Reason;
  readonly text: ShownText;
}

const never = { by: -1, at: Infinity, heardAt: Infinity };

/** Acceptances that operators hear of, unless the key was published at first contact. */
const alarming: ReadonlySet<Reason> = new Set([
  "same-digests",
  "existed",
  "first-key",
  "new",
]);

/** Compares what was served with what was published, decided and served before. Knows nothing of the mirror's own records. */
export class Oracle {
  settings: Settings;
  readonly decided = new Decided();
  readonly contacts = new Contacts();
  readonly shown = new Shown();
  readonly first = new FirstServed();
  /** Key that counts for a provider as its first signer, by type. */
  readonly firstSigners = new Map<string, KeyName>();
  /** Providers with a first signer before clients asked: answers of one burst come in any order. */
  readonly signedBefore = new Set<string>();
  readonly #world: Pick<World, "registry" | "clock" | "alarms" | "disk">;
  readonly #takenBack = new TakenBack();
  /** Versions that the registry listed last, by provider. */
  readonly #lists = new Map<string, readonly string[]>();
  /** Last state of each provider in the registry. */
  readonly #shows = new Map<string, string>();
  #failedAt = -Infinity;
  /** Until when a process cannot know how old its records are: it was started after the wall clock was set back, and takes them for younger by that much. */
  #inDoubtUntil = -Infinity;
  #steppedUntil = -Infinity;
  /** True once a process died, which may have cost an alarm. */
  hasCrashed = false;

  constructor(
    world: Pick<World, "registry" | "clock" | "alarms" | "disk">,
    settings: Settings,
  ) {
    this.#world = world;
    this.settings = settings;
  }

  /** Notes that the wall clock was set. */
  noteStep(milliseconds: number): void {
    const now = Math.max(this.#steppedUntil, this.#world.clock.monotonic());
    if (milliseconds < 0) this.#steppedUntil = now - milliseconds;
  }

  noteStart(): void {
    this.#inDoubtUntil = this.#steppedUntil;
  }

  /** Notes what the registry shows of a provider to a client that asks now. */
  noteAsked(type: string): void {
    const { registry, clock } = this.#world;
    for (const signed of this.firstSigners.keys())
      this.signedBefore.add(signed);
    if (this.settings.offline) return;
    if (!registry.answers(type)) this.#failedAt = clock.monotonic();
    for (const version of versions) this.#noteRelease({ type, version });
    const contact = this.#showContact(type);
    if (contact !== undefined)
      this.contacts.note(type, [contact], this.decided.hasApproved);
    const shows = `${contact?.key} ${[...(contact?.versions ?? [])].join()}`;
    if ((this.#shows.get(type) ?? shows) !== shows)
      this.contacts.note(type, this.#guessContacts(type), false);
    this.#shows.set(type, shows);
    for (const version of versions) this.#noteAcceptable({ type, version });
  }

  noteBundle(offers: readonly Offer[]): void {
    const { clock } = this.#world;
    const now = clock.now();
    const shown = offers.map((offer) => showOffer(offer, this.settings, now));
    for (const { signed, isVerified } of shown) {
      const text = this.shown.note(signed, isVerified);
      // The keys of a bundle decide on what the mirror has not yet.
      if (isVerified && !text.isKept) text.takenAway = undefined;
      // An import confirms a release as a look-up does.
      this.#takenBack.confirm(signed, clock.monotonic());
    }
    for (const type of new Set(shown.map(({ signed }) => signed.type))) {
      const contact = showBundle(offers, type, this.settings, now);
      if (contact !== undefined)
        this.contacts.note(type, [contact], this.decided.hasApproved);
    }
    for (const { signed } of shown) this.#noteAcceptable(signed);
  }

  /** What the registry shows of a release now. */
  look(name: ReleaseName) {
    const { registry, clock } = this.#world;
    const offer = registry.findOffer(name);
    return offer && showOffer(offer, this.settings, clock.now());
  }

  #noteRelease(name: ReleaseName): void {
    const { clock } = this.#world;
    const shown = this.look(name);
    if (shown !== undefined) this.shown.note(shown.signed, shown.isVerified);
    for (const text of this.shown.of(name)) {
      const { signed } = text;
      const signer = this.#takenBack.of(name, signed.signer);
      const isTakenBack = shown?.takenBack.includes(signed.signer) ?? false;
      const since = signer.since ?? clock.monotonic();
      signer.since = isTakenBack ? since : undefined;
      signer.wasEver ||= isTakenBack;
      if (shown?.good.includes(signed.signer)) text.takenAway = undefined;
    }
  }

  #noteAcceptable(name: ReleaseName): void {
    for (const text of this.shown.of(name))
      text.wasAcceptable ||=
        findReason(this, text) !== undefined && text.takenAway === undefined;
  }

  /** Notes that a mirror that asked for a release at `since` has answered: it knows what is taken back. */
  noteAnswered(asked: Asked, since: number): void {
    // A key that has expired is good again under another profile.
    if (isStrict(this.settings.profile)) return;
    // What cannot be written is known to one process, for as long as it runs.
    if (this.#world.disk.isFull) return;
    const { process: by } = asked;
    const at = this.#world.clock.monotonic();
    for (const text of this.shown.of(asked)) {
      // Others hear a moment later of what is on record, and of nothing else.
      const heardAt = text.isKept ? at + modelTimes.decided : Infinity;
      if (this.#isTakenBack(text, since))
        text.takenAway ??= { by, at, heardAt };
    }
  }

  /** True where the registry publishes the signer as good now, or never took it back. */
  isSurelyGood({ signed }: ShownText): boolean {
    const { signer } = signed;
    const { keys } = this.#world.registry.publisher;
    return (
      (signer !== undefined && keys.includes(signer)) ||
      !this.#takenBack.of(signed, signer).wasEver
    );
  }

  /** True while the registry takes back what this signer signed of a release, for long enough that a mirror that asks now knows. */
  #isTakenBack({ signed }: ShownText, now: number): boolean {
    const { since } = this.#takenBack.of(signed, signed.signer);
    return (
      since !== undefined &&
      now - Math.max(since, this.#inDoubtUntil) > modelTimes.noticed &&
      this.isAnswering(signed.type)
    );
  }

  /** True while a mirror that asks gets all answers about a provider, and has no failure to spare the registry for. */
  isAnswering(type: string): boolean {
    const { registry, clock } = this.#world;
    const isSettled = clock.monotonic() - this.#failedAt > modelTimes.settled;
    return isSettled && registry.answers(type);
  }

  /** Throws where an archive may not be served to clients that asked at `since`, of the monotonic clock. */
  expectServable(served: ServedArchive, since: number): void {
    const { platform, sha256 } = served;
    const texts = this.shown
      .of(served)
      .filter(({ signed }) => signed.digests[platform] === sha256);
    const isApproved = texts.some(
      (text) =>
        this.#isApproved(text) || this.#isOfApproved(text, served, since),
    );
    if (isApproved) return;
    const first = this.first.of(served).digests.get(platform);
    const what = `${nameOfRelease(served)} ${platform} ${sha256.slice(0, 6)}`;
    const isFirst = first === undefined || first === sha256;
    expectThat(isFirst, 1, `${what} was first ${first?.slice(0, 6)}`);
    const reasons = this.#findReasons(texts, served, since);
    if (reasons.length === 0) throw this.#explain(texts, what, since);
    const signers = reasons.map(({ text }) => text.signed.signer);
    this.first.note(served, platform, sha256, signers);
    const [only] = reasons;
    if (reasons.length === 1 && only !== undefined) only.text.isKept = true;
    const { signer } = only?.text.signed ?? {};
    if (reasons.length === 1 && only?.reason === "first-key" && signer)
      this.firstSigners.set(served.type, signer);
    this.#expectAlarm(served, reasons, what);
  }

  #showContact(type: string): Contact | undefined {
    const { registry, clock } = this.#world;
    const before = this.#lists.get(type) ?? [];
    const now = clock.now();
    const shown = showContact(registry, type, this.settings, now, before);
    if (registry.findFault("list", { type, version: "" }) === undefined)
      this.#lists.set(type, registry.listVersions(type));
    return shown;
  }

  /** Lists contacts by any signer that was ever shown of a provider: the mirror remembers lists and releases for a while. */
  #guessContacts(type: string): readonly Contact[] {
    const texts = versions.flatMap((version) =>
      this.shown.of({ type, version }),
    );
    const signers = texts
      .filter(({ isVerified }) => isVerified)
      .map(({ signed }) => signed.signer);
    return [...new Set(signers)].map((key) => ({
      versions: new Set<string>(versions),
      ...{ published: new Set(keyNames), key, isGuess: true },
      at: this.#world.clock.now().getTime(),
    }));
  }

  #findReasons(
    texts: readonly ShownText[],
    { face, process }: Pick<Asked, "face" | "process">,
    since: number,
  ) {
    const asksNow = face === "version" || face === "archive";
    return texts.flatMap((text) => {
      const reason = findReason(this, text);
      const { by, at, heardAt } = text.takenAway ?? never;
      const known = by === process ? at : heardAt;
      const holds =
        !(asksNow && this.#isTakenBack(text, since)) && since < known;
      return reason && holds ? [{ reason, text }] : [];
    });
  }

  /** True where a decision may name the content, and no decision and no pin excludes its signer. */
  #isApproved({ signed, isVerified }: ShownText): boolean {
    const { signer, sha256sums } = signed;
    const { pins, newKeys } = this.settings;
    if (!isVerified || this.#isRevoked(signed)) return false;
    if (pins !== undefined && !(signer && pins.includes(signer))) return false;
    if (pins === undefined && newKeys === "refuse") return false;
    return this.decided.listApproved(signed).includes(sha256sums);
  }

  /** True where nothing excludes a signer, so that operators may approve what it signed. */
  isOpen({ signer, ...name }: SignedText): boolean {
    const { pins, newKeys } = this.settings;
    const isRevoked =
      !!signer && this.decided.isPossible("revoked", signer, name);
    return pins === undefined && newKeys !== "refuse" && !isRevoked;
  }

  #isRevoked({ signer, ...name }: SignedText): boolean {
    return !!signer && this.decided.isCertain("revoked", signer, name);
  }

  /** True for another document over archives of an approved content alone, by a signer who has a reason of its own. */
  #isOfApproved(
    text: ShownText,
    { platform, process }: ServedArchive,
    since: number,
  ): boolean {
    const { signed } = text;
    const asked = { face: "index", process } as const;
    if (this.#findReasons([text], asked, since).length === 0) return false;
    const approved = this.decided.listApproved(signed);
    return this.shown
      .of(signed)
      .filter((other) => approved.includes(other.signed.sha256sums))
      .some(
        ({ signed: { digests } }) =>
          digests[platform] !== undefined && agree(signed.digests, digests),
      );
  }

  #explain(
    texts: readonly ShownText[],
    what: string,
    since: number,
  ): Violation {
    const signers = texts.map(({ signed }) => signed.signer ?? "no key");
    const by = signers.length === 0 ? "nothing names it" : signers.join(", ");
    const isRevoked = texts.some(
      (text) => this.#isTakenBack(text, since) || this.#isRevoked(text.signed),
    );
    return isRevoked
      ? new Violation(3, `${what} is served under a revoked key (${by})`)
      : new Violation(2, `${what} is served without a reason (${by})`);
  }

  #expectAlarm(
    { type, version }: ServedArchive,
    reasons: readonly Reasoned[],
    what: string,
  ): void {
    if (this.hasCrashed || !reasons.every((one) => this.#isAlarming(one)))
      return;
    const signers = reasons.map(({ text: { signed } }) =>
      signed.signer ? fingerprintOf(signed.signer) : "none",
    );
    // A first signer counts for the whole provider, and is reported once.
    const isOnce = this.contacts.of(type).some(({ key }) => key === undefined);
    const isRaised = this.#world.alarms.some(
      (facts) =>
        String(facts.provider).endsWith(`/${type}`) &&
        (isOnce || facts.version === version) &&
        signers.includes(String(facts.fingerprint)),
    );
    const why = reasons.map(({ reason }) => reason).join(", ");
    expectThat(isRaised, 2, `${what} is served (${why}) without an alarm`);
  }

  #isAlarming({ reason, text }: Reasoned): boolean {
    const { type, signer } = text.signed;
    const contacts = this.contacts.of(type);
    return (
      alarming.has(reason) &&
      (reason !== "existed" ||
        !contacts.some(({ published }) => signer && published.has(signer)))
    );
  }
}
