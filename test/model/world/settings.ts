import { parseProviderPattern } from "../../../src/address/policy-pattern.ts";
import type { AdmissionRules } from "../../../src/mirror/trust/admission-rules.ts";
import { parsePolicy } from "../../../src/trust/policy.ts";
import type { SignatureProfile } from "../../../src/verification/signatures.ts";
import { hostname, namespace } from "../../scenes/composed-mirror.ts";
import { fingerprintOf, type KeyName } from "./toy-keys.ts";

/** Milliseconds that matter to a mirror and to those who watch it. */
export const modelTimes = {
  freshness: {
    versions: 300_000,
    staleFor: 7 * 86_400_000,
    notFound: 30_000,
  },
  outlast: 301_000,
  noticed: 300_000,
  settled: 10_000,
  decided: 1_000,
};

/** Configuration that decides on trust. */
export interface Settings {
  readonly offline: boolean;
  readonly signatures: "required" | "when-published" | "off";
  readonly profile: SignatureProfile;
  readonly newKeys: AdmissionRules["newKeys"];
  /** Keys that `trust.keys` names for the namespace; undefined: none. */
  readonly pins: readonly KeyName[] | undefined;
}

export function rulesOf({ offline, newKeys, pins }: Settings): AdmissionRules {
  const pattern = parseProviderPattern(`${hostname}/${namespace}/*`);
  return {
    offline,
    newKeys,
    policy: parsePolicy({ default: "allow", minimumAge: 0, rules: [] }),
    pins: pins ? [{ pattern, fingerprints: pins.map(fingerprintOf) }] : [],
  };
}

const online = {
  offline: false,
  signatures: "required",
  profile: "terraform",
  newKeys: "accept-first",
  pins: undefined,
  signer: "K1",
  processes: 1,
} as const;

/** Ways to run a mirror, in which sequences are played. */
export const plans = {
  online,
  pins: { ...online, pins: ["K1"] },
  accept: { ...online, newKeys: "accept" },
  offline: { ...online, offline: true },
  replicas: { ...online, processes: 2 },
  unsigned: { ...online, signatures: "when-published", signer: undefined },
} as const satisfies Readonly<
  Record<
    string,
    Settings & {
      /** Key that the publisher signs with at first; undefined: none. */
      readonly signer: KeyName | undefined;
      /** Processes that share one store. */
      readonly processes: number;
    }
  >
>;

export type WorldName = keyof typeof plans;

export const worldNames = Object.keys(plans) as readonly WorldName[];
