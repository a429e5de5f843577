import type { Ask } from "./mirror-process.ts";
import type { CrashPoint } from "./records.ts";
import type { Fault, FaultPlace, Making } from "./registry.ts";
import type { ReleaseName } from "./documents.ts";
import type { KeyName, KeyState } from "./toy-keys.ts";
import type { Settings } from "./settings.ts";

/** Content that an attacker offers under the name of a release; `shared` is in one document with other releases. */
export type LyingContent =
  "other" | "same" | "wider" | "narrower" | "mixed" | "shared";

export interface OfferLie extends ReleaseName {
  readonly kind: "offer";
  readonly content: LyingContent;
  /** Undefined for an unsigned offer. */
  readonly signer: KeyName | undefined;
  readonly dated: "now" | "back";
  readonly keys: "beside" | "instead";
  /** Tells contents of one kind apart. */
  readonly variant: number;
}

export type KeyScopeName = "namespace" | "provider" | "release";

/** One step of a sequence: plain data, so that any step can be left out. */
export type Action =
  | (Ask & { readonly kind: "ask"; readonly process: number })
  | {
      readonly kind: "burst";
      readonly asks: readonly (Ask & { readonly process: number })[];
      readonly pace: number;
      readonly midway: Lie | undefined;
    }
  /** Asks every face for everything of a provider, and compares. */
  | { readonly kind: "survey"; readonly type: string; readonly process: number }
  /** Offers something for a while, to see that it leaves no trace. */
  | { readonly kind: "tempt"; readonly lie: OfferLie; readonly process: number }
  /** Imports a bundle of the publisher's releases, with lies among them. */
  | {
      readonly kind: "import";
      readonly names: readonly ReleaseName[];
      readonly lies: readonly OfferLie[];
      readonly process: number;
    }
  /** Offers one document after the other of a release, each for long enough to be seen. */
  | {
      readonly kind: "flood";
      readonly lie: OfferLie;
      readonly count: number;
      readonly process: number;
    }
  /** Heals everything, waits, and sees that all that is good is served. */
  | { readonly kind: "recover" }
  | (ReleaseName & {
      readonly kind: Making;
      readonly variant: number;
    })
  | { readonly kind: "rotate" | "retire" }
  | Lie
  | {
      readonly kind: "key";
      readonly decision: "approved" | "revoked" | "undecided";
      readonly key: KeyName;
      readonly scope: KeyScopeName;
      readonly name: ReleaseName;
    }
  | (ReleaseName & {
      readonly kind: "approve";
      /** Which of the candidates. */
      readonly which: number;
      /** With the command that is printed beside it; else without a digest. */
      readonly isPrinted: boolean;
    })
  | (ReleaseName & {
      readonly kind: "withdraw";
      /** Which of the approved contents. */
      readonly which: number;
    })
  | { readonly kind: "pass" | "step"; readonly milliseconds: number }
  | { readonly kind: "restart"; readonly process: number }
  | (CrashPoint & { readonly kind: "crash"; readonly process: number })
  | { readonly kind: "disk"; readonly isFull: boolean }
  | { readonly kind: "lose" | "damage"; readonly which: number }
  | {
      readonly kind: "configure";
      readonly change: Partial<Pick<Settings, "newKeys" | "pins" | "profile">>;
    };

/** Attacks of a registry on its clients. */
export type Lie =
  | OfferLie
  | (ReleaseName & { readonly kind: "replay"; readonly which: number })
  | {
      readonly kind: "keys";
      readonly key: KeyName;
      readonly state: KeyState | "absent";
    }
  | (ReleaseName & { readonly kind: "hide" })
  | (ReleaseName & {
      readonly kind: "fail";
      readonly place: FaultPlace;
      readonly fault: Fault;
    })
  | { readonly kind: "down" }
  | { readonly kind: "heal" };

export function formatAction({ kind, ...rest }: Action): string {
  const facts = Object.entries(rest).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}=${text}`;
  });
  return [kind, ...facts].join(" ");
}
