/**
 * Which ports a fetch may use when the policy names none: 80, 443, and those from 1024 on where no well-known service
 * listens that is not a web server. Pages do live on 3000, 8000 or 8888; but a request line sent to a mail server, a
 * database or a cluster's control port is an attack in our name, and below 1024 there is nothing else to read.
 */
export function isWebPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && port <= 65_535 && !servicePorts.has(port));
}

const servicePorts = new Set([
  // From 1024 on, the blocked ports of the Fetch standard ("bad port").
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
  // Databases, caches and queues that answer without a login, or can be spoken to through HTTP.
  1433, 1521, 3306, 5432, 5433, 5672, 5984, 6379, 6380, 6432, 7474, 7687, 8086, 9042, 9092, 9200, 9300, 11_211, 15_672,
  26_379, 27_017, 27_018, 27_019, 28_015, 33_060, 50_000, 61_616,
  // Control ports of containers, clusters and debuggers.
  2181, 2375, 2376, 2377, 2379, 2380, 4194, 4243, 4646, 5005, 6443, 8125, 8200, 8300, 8301, 8500, 8600, 9229, 10_250,
  10_255, 10_256, 50_070,
  // Remote shells and desktops, proxies.
  1080, 3128, 3389, 5900, 5901, 5985, 5986, 9050, 9051,
]);
