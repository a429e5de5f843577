import { failure } from "../../errors/index.ts";
import type { FirstContact } from "../../trust/state.ts";
import type { Answer, Within } from "../cache/metadata-cache.ts";
import { formatRelease, type Release } from "../releases/release.ts";
import type { ProviderRequest, ReleaseRequest } from "../trust/admission.ts";
import type { Settlements } from "../trust/settlements.ts";
import type { FirstContacts } from "./first-contacts.ts";
import { isAdmitted, type ProviderCatalog } from "./provider-catalog.ts";
import { refusalOf, type RefusedVersions } from "./refusals.ts";

interface StandingsParts {
  readonly catalog: ProviderCatalog;
  readonly contacts: FirstContacts;
  readonly settlements: Settlements;
  readonly refused: RefusedVersions;
}

/**
 * The one question of every face: what clients get of a release now. Index,
 * VERSION.json, archives, prefetch, lock, export and pages ask it
 * (docs/trust.md, rule 8).
 */
export class Standings {
  readonly #parts: StandingsParts;
  /** The versions that were refused when they were asked for last. */
  readonly refused: RefusedVersions;

  constructor(parts: StandingsParts) {
    this.#parts = parts;
    this.refused = parts.refused;
  }

  /** Makes first contact, where there was none. */
  meet(request: ProviderRequest): Promise<FirstContact> {
    return this.#parts.contacts.find(request);
  }

  /** Finds a release that clients may have, too young only where the policy reports. */
  async lookUp(
    request: ReleaseRequest,
    within: Within = {},
  ): Promise<Answer<Release>> {
    const { catalog, contacts, settlements } = this.#parts;
    return this.#noting(request, async () => {
      const [answer, contact] = await Promise.all([
        catalog.findRelease(request, within),
        contacts.find(request, request),
      ]);
      // Operators may have decided something while the origin was asked.
      if (answer.outcome !== "hit") await request.entry.renew();
      const list = await catalog.versions.peek(request.provider);
      const by = { contact, list };
      const value = await settlements.settle(request, answer.value, by);
      return { ...answer, value };
    });
  }

  /** The same by what is known, without asking the origin. */
  async look(request: ReleaseRequest): Promise<Release> {
    const { catalog, contacts, settlements } = this.#parts;
    const known = await catalog.releases.peek(request.address);
    if (known === undefined)
      throw failure("not-stored", formatRelease(request.address));
    const contact = await contacts.find(request, request);
    const list = await catalog.versions.peek(request.provider);
    const by = { contact, list };
    // An offer that was not admitted may have been withdrawn since.
    const isOffer = !isAdmitted(request, known) && !request.rules.offline;
    if (isOffer && settlements.preview(request, known, by).size > 0)
      throw failure("not-stored", formatRelease(request.address));
    return this.#noting(request, () => settlements.settle(request, known, by));
  }

  /**
   * Notes refusals, which lists check before they name a version. Only listed
   * versions are noted.
   */
  async #noting<T>(
    { address }: ReleaseRequest,
    answer: () => Promise<T>,
  ): Promise<T> {
    const { provider, version } = address;
    const { catalog } = this.#parts;
    try {
      const answered = await answer();
      await this.refused.note(provider, version, undefined);
      return answered;
    } catch (error) {
      const code = refusalOf(error);
      if (code === undefined) throw error;
      const list = await catalog.versions.peek(provider);
      const entry = list?.versions.get(version);
      const isNamed = code === "not-found" ? entry?.listed : entry;
      if (isNamed) await this.refused.note(provider, version, code);
      throw error;
    }
  }
}
