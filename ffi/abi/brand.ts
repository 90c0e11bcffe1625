declare const brand: unique symbol;

/** A number that only the calls minting it may produce: `close(agent.pid)` does not compile. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type Pid = Brand<number, "Pid">;
export type Fd = Brand<number, "Fd">;
