import { Gateway, type GatewayWish, type Upstream } from "./gateway.ts";

/** The upstream connection that one client's last request left open, for its next one. */
export class IdleUpstream {
  #upstream: Upstream | null = null;

  keep(upstream: Upstream): void {
    this.#upstream = upstream;
    const forget = (): void => {
      upstream.leg.destroy();
      if (this.#upstream === upstream) this.#upstream = null;
    };
    // Whatever it says now answers no request.
    upstream.leg.listener = { data: forget, end: forget, drained: () => {}, closed: forget };
    upstream.leg.resume();
  }

  /** Hands it out if it leads where the wish goes; otherwise it is closed. */
  take(wish: GatewayWish, options: { readonly isRepeatable: boolean }): Upstream | null {
    const upstream = this.#upstream;
    this.#upstream = null;
    if (upstream === null) return null;
    const isUsable = upstream.leg.isOpen && !upstream.leg.hasEnded;
    if (isUsable && options.isRepeatable && upstream.key === Gateway.keyOf(wish)) return upstream;
    upstream.leg.destroy();
    return null;
  }

  close(): void {
    this.#upstream?.leg.destroy();
    this.#upstream = null;
  }
}
