import type { Packet } from "../packets/signature-packets.ts";
import { Malformed } from "../packets/refusal.ts";

export type WholePacket = Exclude<Packet, { readonly kind: "malformed" }>;

/** The packets of a key block, of which the last one taken can be put back. */
export class PacketQueue {
  readonly #packets: readonly Packet[];
  #next = 0;

  constructor(packets: readonly Packet[]) {
    this.#packets = packets;
  }

  get isEmpty(): boolean {
    return this.#next >= this.#packets.length;
  }

  /** Undefined at the end; a malformed packet is taken and throws Malformed. */
  take(): WholePacket | undefined {
    const packet = this.#packets[this.#next];
    this.#next += 1;
    if (packet?.kind === "malformed") throw new Malformed(packet.detail);
    return packet;
  }

  putBack(): void {
    this.#next -= 1;
  }

  /** The signatures that come next. */
  *signatures(): Generator<
    Extract<Packet, { kind: "signature" }>["signature"]
  > {
    for (let packet = this.take(); packet; packet = this.take()) {
      if (packet.kind !== "signature") break;
      yield packet.signature;
    }
    this.putBack();
  }
}
