export function keyOf(index: number): string;
export function tenantOf(index: number): string;
export function writeTenantTable(file: string, count: number): void;
