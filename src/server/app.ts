import { ProvenderError } from "../errors/index.ts";
import { onBehalfOf, type Asker } from "../telemetry/asker.ts";
import type { AuditLog } from "../telemetry/audit-log.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ClientAddresses } from "./http/client-address.ts";
import type { Handle } from "./http/listener.ts";
import { takeTicket, type Authentication } from "./access/authentication.ts";
import { respondWithError, statusOf } from "./http/error-response.ts";
import { charge, isMetadata, type MetadataCaps } from "./http/metadata-caps.ts";
import {
  findModulePath,
  type ModuleRegistryFace,
} from "./protocols/module-registry.ts";
import {
  findMirrorPath,
  type NetworkMirrorFace,
} from "./protocols/network-mirror.ts";
import {
  findRegistryPath,
  type ProviderRegistryFace,
} from "./protocols/provider-registry.ts";
import { makePages, type PageParts, type Pages } from "./web/pages.ts";
import { findRequestProblem, pathOf } from "./http/raw-request.ts";
import { auditRefusal } from "./refusal-audit.ts";
import { recordWhenClosed } from "./request-log.ts";
import { openExchange, type Exchange } from "./http/request-note.ts";

export interface AppParts extends PageParts {
  readonly authentication: Authentication;
  readonly providers: NetworkMirrorFace;
  readonly registry: ProviderRegistryFace;
  readonly modules: ModuleRegistryFace;
  readonly logger: Logger;
  readonly audit: AuditLog;
  readonly metrics: Metrics;
  readonly clients: ClientAddresses;
  readonly metadataCaps: MetadataCaps;
  /** Bytes. */
  readonly longestUrl: number;
}

/** Every URL of the contract: what clients fetch straight on Node's server, the pages on Koa. */
export function makeApp(parts: AppParts): Handle {
  const pages = makePages(parts);
  return (req, res) => {
    const exchange = openExchange(req, res, parts.clients.of(req));
    recordWhenClosed(exchange, parts.logger, parts.metrics);
    const { client, note } = exchange;
    const asker: Asker = {
      requestId: note.requestId,
      client: client.address,
    };
    return onBehalfOf(asker, () => answer(exchange, asker, parts, pages));
  };
}

async function answer(
  exchange: Exchange,
  asker: Asker,
  parts: AppParts,
  pages: Pages,
): Promise<void> {
  try {
    const problem = findRequestProblem(exchange.req, parts.longestUrl);
    if (problem !== undefined) throw problem;
    if (parts.authentication.isOn)
      asker.token = exchange.note.token = await parts.authentication.admit(
        exchange.req,
      );
    await answerWithinCaps(exchange, parts, pages);
  } catch (thrown) {
    // It may have been refused before anybody looked at who asks.
    takeTicket(exchange.req);
    const error = await audited(parts.audit, exchange, thrown);
    exchange.note.outcome = statusOf(error) < 500 ? "refused" : "failed";
    exchange.note.error = error;
    respondWithError(exchange, error);
  }
}

async function answerWithinCaps(
  exchange: Exchange,
  parts: AppParts,
  pages: Pages,
): Promise<void> {
  const path = pathOf(exchange.req.url ?? "");
  if (!isMetadata(path)) return route(exchange, path, parts, pages);
  const allowance = parts.metadataCaps.admit(exchange.client);
  try {
    await route(exchange, path, parts, pages);
  } finally {
    charge(allowance, exchange.note);
  }
}

/** Koa alone takes as long as a document from memory, so what clients ask for by the thousand does not pass it. */
function route(
  exchange: Exchange,
  path: string,
  { providers, registry, modules }: AppParts,
  pages: Pages,
): Promise<void> {
  const mirrored = findMirrorPath(path);
  if (mirrored !== undefined) return providers.answer(exchange, mirrored);
  const published = findRegistryPath(path);
  if (published !== undefined) return registry.answer(exchange, published);
  const module = findModulePath(path);
  if (module !== undefined) return modules.answer(exchange, module);
  return pages(exchange);
}

/** A refusal is on disk before it is answered; when it cannot be, that is the answer. */
async function audited(
  audit: AuditLog,
  { req }: Exchange,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ProvenderError) || statusOf(error) !== refusal)
    return error;
  try {
    await auditRefusal(audit, req.url ?? "", error);
    return error;
  } catch (unusable) {
    return unusable;
  }
}

const refusal = 451;
