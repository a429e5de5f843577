import { findReason, type Known, type Reason } from "./acceptance.ts";
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
import type { Face } from "../world/answers.ts";
import {
  agree,
  nameOfRelease,
  versions,
  type ReleaseName,
} from "../world/documents.ts";
import type { MemoryMachine } from "../world/mirror-process.ts";
import type { Offer } from "../world/registry.ts";
import { modelTimes, type Settings } from "../world/settings.ts";
import {
  fingerprintOf,
  isStrict,
  keyNames,
  type KeyName,
} from "../world/toy-keys.ts";

/** Something that a client was given. */
interface ServedArchive extends ReleaseName {
  readonly face: Face;
  readonly platform: string;
  readonly sha256: string;
}

/** A document that may be served, and why. */
interface Reasoned {
  readonly reason: Reason;
  readonly text: ShownText;
}

/** Acceptances that operators hear of, unless the key was published at first contact. */
const alarming: ReadonlySet<Reason> = new Set([
  "same-digests",
  "existed",
  "first-key",
  "new",
]);

/** Compares what was served with what was published, decided and served before. Knows nothing of the mirror's own records. */
export class Oracle implements Known {
  settings: Settings;
  readonly decided = new Decided();
  readonly contacts = new Contacts();
  readonly shown = new Shown();
  readonly first = new FirstServed();
  readonly firstSigners = new Map<string, KeyName>();
  readonly signedBefore = new Set<string>();
  readonly #machine: MemoryMachine;
  readonly #takenBack = new TakenBack();
  /** Versions that the registry listed last, by provider. */
  readonly #lists = new Map<string, readonly string[]>();
  /** Last state of each provider in the registry. */
  readonly #shows = new Map<string, string>();
  /** All that the last look at a provider depended on. */
  readonly #noted = new Map<
    string,
    { readonly noted: string; readonly settings: Settings }
  >();
  #failedAt = -Infinity;
  /** Until when a process cannot know how old its records are: it was started after the wall clock was set back, and takes them for younger by that much. */
  #inDoubtUntil = -Infinity;
  #steppedUntil = -Infinity;
  /** True once a process died, which may have cost an alarm. */
  hasCrashed = false;

  constructor(machine: MemoryMachine, settings: Settings) {
    this.#machine = machine;
    this.settings = settings;
  }

  /** Notes that the wall clock was set. */
  noteStep(milliseconds: number): void {
    const now = Math.max(this.#steppedUntil, this.#machine.clock.monotonic());
    if (milliseconds < 0) this.#steppedUntil = now - milliseconds;
  }

  /** Notes that a process was started again. */
  noteStart(): void {
    this.#inDoubtUntil = this.#steppedUntil;
  }

  /** Notes what the registry shows of a provider to a client that asks now. */
  noteAsked(type: string, versions: readonly string[]): void {
    const { registry, clock } = this.#machine;
    for (const signed of this.firstSigners.keys())
      this.signedBefore.add(signed);
    if (this.settings.offline || this.#isNoted(type)) return;
    if (!registry.answers(type)) this.#failedAt = clock.monotonic();
    for (const version of versions) this.noteRelease({ type, version });
    const contact = this.#showContact(type);
    this.contacts.note(type, contact, this.decided.hasApproved);
    const shows = JSON.stringify([
      contact?.key,
      [...(contact?.versions ?? [])],
    ]);
    if ((this.#shows.get(type) ?? shows) !== shows)
      this.contacts.guess(type, this.#guessContacts(type));
    this.#shows.set(type, shows);
    for (const version of versions) this.noteAcceptable({ type, version });
  }

  /** Notes what a bundle carries of providers. */
  noteBundle(offers: readonly Offer[]): void {
    const now = this.#machine.clock.now();
    const shown = offers.map((offer) => showOffer(offer, this.settings, now));
    for (const { signed, isVerified } of shown) {
      this.shown.note(signed, isVerified);
      // An import confirms a release as a look-up does.
      this.#takenBack.confirm(signed, this.#machine.clock.monotonic());
    }
    for (const type of new Set(shown.map(({ signed }) => signed.type))) {
      const contact = showBundle(offers, type, this.settings, now);
      this.contacts.note(type, contact, this.decided.hasApproved);
    }
    for (const { signed } of shown) this.noteAcceptable(signed);
    this.#noted.clear();
  }

  /** Notes what the registry shows of a release. */
  noteRelease(name: ReleaseName): void {
    const { registry, clock } = this.#machine;
    const offer = registry.findOffer(name);
    const wall = clock.now();
    const shown = offer && showOffer(offer, this.settings, wall);
    if (shown !== undefined) this.shown.note(shown.signed, shown.isVerified);
    for (const { signed } of this.shown.of(name)) {
      const signer = this.#takenBack.of(name, signed.signer);
      const isTakenBack = shown?.takenBack.includes(signed.signer) ?? false;
      const since = signer.since ?? clock.monotonic();
      signer.since = isTakenBack ? since : undefined;
      signer.wasEver ||= isTakenBack;
      if (shown?.good.includes(signed.signer)) signer.isKnown = false;
    }
  }

  noteAcceptable(name: ReleaseName): void {
    for (const text of this.shown.of(name))
      text.wasAcceptable ||=
        findReason(this, text) !== undefined &&
        !this.#takenBack.of(name, text.signed.signer).isKnown;
  }

  /** Notes that a mirror that asked for a release at `since` has answered: it knows what is taken back. */
  noteAnswered(name: ReleaseName, since: number): void {
    // A key that has expired is good again under another profile.
    if (isStrict(this.settings.profile)) return;
    for (const text of this.shown.of(name))
      if (this.isTakenBack(text, since))
        this.#takenBack.of(name, text.signed.signer).isKnown = true;
  }

  /** True where the registry publishes the signer as good now, or never took it back. */
  isSurelyGood({ signed }: ShownText): boolean {
    const { signer } = signed;
    const { keys } = this.#machine.registry.publisher;
    return (
      (signer !== undefined && keys.includes(signer)) ||
      !this.#takenBack.of(signed, signer).wasEver
    );
  }

  /** True while the registry takes back what this signer signed of a release, for long enough that a mirror that asks now knows. */
  isTakenBack({ signed }: ShownText, now: number): boolean {
    const { since } = this.#takenBack.of(signed, signed.signer);
    return (
      since !== undefined &&
      now - Math.max(since, this.#inDoubtUntil) > modelTimes.noticed &&
      this.isAnswering(signed.type)
    );
  }

  /** True while a mirror that asks gets all answers about a provider, and has no failure to spare the registry for. */
  isAnswering(type: string): boolean {
    const { registry, clock } = this.#machine;
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
      (text) => this.#isApproved(text) || this.#isOfApproved(text, platform),
    );
    const first = this.first.find(served, platform);
    const what = `${nameOfRelease(served)} ${platform} ${sha256.slice(0, 6)}`;
    if (isApproved) return;
    const isFirst = first === undefined || first === sha256;
    expectThat(isFirst, 1, `${what} was first ${first?.slice(0, 6)}`);
    const reasons = this.#findReasons(texts, served.face, since);
    if (reasons.length === 0) throw this.#explain(texts, what, since);
    const signers = reasons.map(({ text }) => text.signed.signer);
    this.first.note(served, platform, sha256, signers);
    const [only] = reasons;
    const { signer } = only?.text.signed ?? {};
    if (reasons.length === 1 && only?.reason === "first-key" && signer)
      this.firstSigners.set(served.type, signer);
    this.#expectAlarm(served, reasons, what);
  }

  #showContact(type: string): Contact | undefined {
    const { registry, clock } = this.#machine;
    const before = this.#lists.get(type) ?? [];
    const now = clock.now();
    const shown = showContact(registry, type, this.settings, now, before);
    if (registry.findFault("list", { type, version: "" }) === undefined)
      this.#lists.set(type, registry.listVersions(type));
    return shown;
  }

  /** Lists contacts by any signer that was ever shown of a provider. */
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
      at: this.#machine.clock.now().getTime(),
    }));
  }

  /** True while nothing changed since the registry was looked at last. */
  #isNoted(type: string): boolean {
    const { registry, clock } = this.#machine;
    const clocks = `${clock.monotonic()} ${clock.now().getTime()}`;
    const known = `${this.decided.revision} ${this.contacts.revision} ${this.firstSigners.size}`;
    const noted = `${registry.changes} ${registry.publisher.revision} ${clocks} ${known}`;
    const before = this.#noted.get(type);
    const isSame = before?.noted === noted && before.settings === this.settings;
    this.#noted.set(type, { noted, settings: this.settings });
    return isSame;
  }

  #findReasons(texts: readonly ShownText[], face: Face, since: number) {
    const asksNow = face === "version" || face === "archive";
    return texts.flatMap((text) => {
      const reason = findReason(this, text);
      const { signed } = text;
      const holds =
        !(asksNow && this.isTakenBack(text, since)) &&
        !this.#takenBack.of(signed, signed.signer).isKnown;
      return reason && holds ? [{ reason, text }] : [];
    });
  }

  /** True where a decision may name the content, and no decision and no pin excludes its signer. */
  #isApproved({ signed, isVerified }: ShownText): boolean {
    const { signer, sha256sums } = signed;
    const { pins, newKeys } = this.settings;
    if (!isVerified) return false;
    if (signer && this.decided.isCertain("revoked", signer, signed))
      return false;
    if (pins !== undefined && !(signer && pins.includes(signer))) return false;
    if (pins === undefined && newKeys === "refuse") return false;
    return this.decided.listApproved(signed).includes(sha256sums);
  }

  /** True for another document over archives of an approved content alone, by a signer who has a reason of its own. */
  #isOfApproved(text: ShownText, platform: string): boolean {
    const { signed } = text;
    if (this.#findReasons([text], "index", 0).length === 0) return false;
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
    const isRevoked = texts.some(
      (text) =>
        this.isTakenBack(text, since) ||
        (text.signed.signer &&
          this.decided.isCertain("revoked", text.signed.signer, text.signed)),
    );
    const by = signers.length === 0 ? "nothing names it" : signers.join(", ");
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
    const signers = new Set(
      reasons.flatMap(({ text }) =>
        text.signed.signer ? [fingerprintOf(text.signed.signer)] : ["none"],
      ),
    );
    // A first signer counts for the whole provider, and is reported once.
    const isOnce = this.contacts.of(type).some(({ key }) => key === undefined);
    const isRaised = this.#machine.alarms.some(
      ({ facts }) =>
        String(facts.provider).endsWith(`/${type}`) &&
        (isOnce || facts.version === version) &&
        signers.has(String(facts.fingerprint)),
    );
    const why = reasons.map(({ reason }) => reason).join(", ");
    expectThat(isRaised, 2, `${what} is served (${why}) without an alarm`);
  }

  #isAlarming({ reason, text }: Reasoned): boolean {
    if (!alarming.has(reason)) return false;
    const { type, signer } = text.signed;
    return (
      reason !== "existed" ||
      !this.contacts
        .of(type)
        .some(({ published }) => signer && published.has(signer))
    );
  }
}
