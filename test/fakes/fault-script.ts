import type { Fault } from "./faults.ts";
import type { Reply } from "./reply.ts";
import type { LoggedRequest, RequestKind } from "./request-log.ts";

/** Faults of the next answers by kind. */
export class FaultScript {
  #sticky = new Map<RequestKind, Fault>();
  #queued = new Map<RequestKind, Fault[]>();

  /** One fault stays until it is replaced; a list is consumed in order. */
  set(kind: RequestKind, faults: Fault | readonly Fault[]): void {
    this.#sticky.delete(kind);
    this.#queued.delete(kind);
    if (typeof faults === "function") this.#sticky.set(kind, faults);
    else this.#queued.set(kind, [...faults]);
  }

  clear(): void {
    this.#sticky.clear();
    this.#queued.clear();
  }

  apply(reply: Reply, request: LoggedRequest): Reply {
    const fault =
      this.#sticky.get(request.kind) ?? this.#queued.get(request.kind)?.shift();
    return fault === undefined ? reply : fault(reply, request);
  }
}
