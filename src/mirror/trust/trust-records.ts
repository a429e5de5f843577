import { z } from "zod";
import type { Hostname } from "../../address/hostname.ts";
import type { RecordKey } from "../../store/records/record-tables.ts";
import type { Candidates } from "../../trust/candidates.ts";
import type { FirstContact, NamespaceTrust } from "../../trust/state.ts";

/** HOSTNAME and NAMESPACE: the unit in which operators decide. */
export interface Namespace {
  readonly hostname: Hostname;
  readonly namespace: string;
}

/** A provider, or a module with NAME/SYSTEM as its type, as records name it. */
export interface ProviderName extends Namespace {
  readonly type: string;
}

export function namespaceKey({ hostname, namespace }: Namespace): RecordKey {
  return ["namespaces", hostname, namespace];
}

export function contactKey(provider: ProviderName): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["first_contacts", hostname, namespace, type];
}

export function candidatesKey(provider: ProviderName): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["candidates", hostname, namespace, type];
}

const moment = z.iso.datetime();
const text = z.string();
const optionalText = text.nullable().transform((value) => value ?? undefined);
const decided = {
  at: moment,
  by: text.optional(),
  why: text.optional(),
};

const namespaceShape = z.object({
  firstKey: z
    .object({ fingerprint: optionalText, type: text })
    .nullable()
    .transform((value) => value ?? undefined),
  providerKeys: z.array(
    z.object({ type: text, version: text, fingerprint: text }),
  ),
  decisions: z.object({
    keys: z.array(
      z.object({
        fingerprint: text,
        decision: z.enum(["approved", "revoked"]),
        type: text.nullable(),
        version: text.nullable(),
        ...decided,
      }),
    ),
    contents: z.array(
      z.object({
        ...{ type: text, version: text, sha256sums: text, ...decided },
        decision: z.enum(["approved", "revoked"]).default("approved"),
      }),
    ),
  }),
});

export function readNamespace(body: unknown): NamespaceTrust {
  return namespaceShape.parse(body);
}

export function writeNamespace({ firstKey, ...namespace }: NamespaceTrust) {
  const { fingerprint = null, type = "" } = firstKey ?? {};
  return { ...namespace, firstKey: firstKey ? { fingerprint, type } : null };
}

const contactShape = z.object({
  id: text,
  at: moment.transform((written) => new Date(written)),
  by: z.enum(["list", "bundle"]),
  versions: z.array(text).transform((all) => new Set(all)),
  published: z.array(text).transform((all) => new Set(all)),
  key: optionalText,
  newest: text,
});

export function readContact(body: unknown): FirstContact {
  return contactShape.parse(body);
}

export function writeContact(contact: FirstContact) {
  return {
    ...contact,
    at: contact.at.toISOString(),
    versions: [...contact.versions],
    published: [...contact.published],
    key: contact.key ?? null,
  };
}

const candidatesShape = z.object({
  list: z.array(
    z.object({
      version: text,
      sha256sums: text,
      fingerprint: optionalText,
      reason: z.enum([
        ...["revoked", "revoked-content", "not-pinned", "unknown"],
        "other-content",
      ] as const),
      since: moment,
    }),
  ),
  dropped: z.int(),
});

export function readCandidates(body: unknown): Candidates {
  return candidatesShape.parse(body);
}

export function writeCandidates({ list, dropped }: Candidates) {
  const written = list.map(({ fingerprint = null, ...one }) => ({
    ...one,
    fingerprint,
  }));
  return { list: written, dropped };
}
