import { isDatagramSocket } from "../../ffi/calls/socket.ts";
import type { FileSeal } from "../plan/file-seal.ts";
import type { LayerState } from "../plan/layer-states.ts";
import { type NetworkPin, networkPin } from "../plan/network-pin.ts";
import { textToBytes } from "../policy/byte-text.ts";
import type { NetworkPolicy } from "../policy/model.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { type Refusal, refusal } from "./refusal.ts";

export interface PinNetworkRequest {
  readonly network: NetworkPolicy | null;
  readonly state: LayerState;
  readonly seal: FileSeal | null;
  readonly keepFds: readonly number[];
}

/** What sockets will be judged by, null if by nothing; or the reason why nothing may start. */
export function pinNetwork(request: PinNetworkRequest): Result<NetworkPin | null, Refusal> {
  const { network, state, seal } = request;
  const writableTrees = seal?.landlock == null ? null : seal.writable.map(latin1);
  const place = { writableTrees, cwd: process.cwd() };
  if (state.state === "not") {
    if (network?.requireEnforced === false) return ok(networkPin({ network: null, ...place }));
    return err(
      refusal(
        126,
        `the network layer cannot be enforced here: ${state.missing.join("; ")}`,
        "`[network] require_enforced = false` would run the command without the pin",
      ),
    );
  }
  const pin = networkPin({ network, ...place });
  if (pin?.hold !== "pin") return ok(pin);
  const open = [0, 1, 2, ...request.keepFds].find((fd) => isDatagramSocket(fd));
  if (open === undefined) return ok(pin);
  const what = "is a datagram socket, which could send to any address in spite of the pin";
  return err(refusal(126, `descriptor ${open} ${what}`, "start faraday without it"));
}

const latin1 = (text: string): string => Buffer.from(textToBytes(text)).toString("latin1");
