import type { Fd } from "../abi/brand.ts";
import {
  LANDLOCK_CREATE_RULESET_VERSION,
  LANDLOCK_RULE_NET_PORT,
  LANDLOCK_RULE_PATH_BENEATH,
  LandlockNetPortAttr,
  LandlockPathBeneathAttr,
  LandlockRulesetAttr,
} from "../abi/landlock.ts";
import { KernelBuffer, sys } from "./libc.ts";

/** The kernel's Landlock ABI; 0 where it has none or has it switched off. */
export function landlockAbi(): number {
  return Math.max(landlockVersion(), 0);
}

/** The same with the reason: below zero it is the negated errno. */
export function landlockVersion(): number {
  return sys("landlock_create_ruleset", 0, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

export interface RulesetAttributes {
  readonly handledFs: number;
  readonly handledNet: number;
  readonly scoped: number;
}

/** Kernels before ABI 4 and 6 know a shorter struct; zero at the end of a longer one is fine. */
export function createRuleset(attributes: RulesetAttributes): Fd | number {
  const attr = new KernelBuffer(LandlockRulesetAttr.size);
  attr.setU64(LandlockRulesetAttr.at.handledAccessFs, attributes.handledFs);
  attr.setU64(LandlockRulesetAttr.at.handledAccessNet, attributes.handledNet);
  attr.setU64(LandlockRulesetAttr.at.scoped, attributes.scoped);
  return sys("landlock_create_ruleset", attr.address, LandlockRulesetAttr.size, 0);
}

/** Adds rules for paths, hundreds at a start: all through one buffer. */
export class PathRules {
  readonly #ruleset: Fd;
  readonly #attr = new KernelBuffer(LandlockPathBeneathAttr.size);

  constructor(ruleset: Fd) {
    this.#ruleset = ruleset;
  }

  allowBeneath(parent: Fd, access: number): number {
    const { address, view } = this.#attr;
    // Rights are far fewer than 32; the upper half stays zero.
    view.setUint32(LandlockPathBeneathAttr.at.allowedAccess, access, true);
    view.setInt32(LandlockPathBeneathAttr.at.parentFd, parent, true);
    return sys("landlock_add_rule", this.#ruleset, LANDLOCK_RULE_PATH_BENEATH, address, 0);
  }
}

/** A TCP port on every address. */
export function allowPort(ruleset: Fd, port: number, access: number): number {
  const attr = new KernelBuffer(LandlockNetPortAttr.size);
  attr.setU64(LandlockNetPortAttr.at.allowedAccess, access);
  attr.setU64(LandlockNetPortAttr.at.port, port);
  return sys("landlock_add_rule", ruleset, LANDLOCK_RULE_NET_PORT, attr.address, 0);
}

/** Puts the calling thread, and what it starts, into the domain. */
export function restrictSelf(ruleset: Fd): number {
  return sys("landlock_restrict_self", ruleset, 0);
}
