/** The simulated public internet. */
export const publicIpv4 = '93.184.216.34';
export const publicIpv6 = '2606:2800:220:1::1';

/** Cloud metadata addresses with credentials. No setting may allow them. */
export const metadataAddresses = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd20:ce::254',
];

/** First and last address of every special IPv4 range (IANA). All must be rejected. */
export const specialIpv4 = [
  '0.0.0.0',
  '0.255.255.255',
  '10.0.0.0',
  '10.0.0.5',
  '10.255.255.255',
  '100.64.0.0',
  '100.127.255.255',
  '127.0.0.0',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.0.0',
  '169.254.255.255',
  '172.16.0.0',
  '172.31.255.255',
  '192.0.0.0',
  '192.0.0.255',
  '192.0.2.0',
  '192.0.2.255',
  '192.31.196.0',
  '192.31.196.255',
  '192.52.193.0',
  '192.52.193.255',
  '192.88.99.0',
  '192.88.99.255',
  '192.168.0.0',
  '192.168.255.255',
  '192.175.48.0',
  '192.175.48.255',
  '198.18.0.0',
  '198.19.255.255',
  '198.51.100.0',
  '198.51.100.255',
  '203.0.113.0',
  '203.0.113.255',
  '224.0.0.0',
  '239.255.255.255',
  '240.0.0.0',
  '255.255.255.254',
  '255.255.255.255',
];

/** Ordinary addresses just outside those ranges. All must be reachable. */
export const neighbours = [
  '1.0.0.0',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.0.1.0',
  '192.0.3.0',
  '192.88.98.255',
  '192.88.100.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '198.51.101.0',
  '203.0.112.255',
  '203.0.114.0',
  '223.255.255.255',
  '168.63.129.15',
  '168.63.129.17',
  '2001:200::1',
  '2001:db7:ffff::1',
  '2001:db9::1',
  '2003::1',
  '3fff:1000::1',
  '2620:4f:8001::1',
];

export const specialIpv6 = [
  '::',
  '::1',
  '::2',
  '::7f00:1',
  '::a00:5',
  '::ffff:0:7f00:1',
  '64:ff9b::a00:5',
  '64:ff9b::7f00:1',
  '64:ff9b:1::a00:5',
  '64:ff9b:1::7f00:1',
  '100::1',
  '100:0:0:1::1',
  '2001::1',
  '2001:1::1',
  '2001:2::1',
  '2001:3::1',
  '2001:4:112::1',
  '2001:10::1',
  '2001:20::1',
  '2001:30::1',
  '2001:1ff:ffff::1',
  '2001:db8::1',
  '2001:db8:ffff::1',
  '2002:a00:5::',
  '2002:7f00:1::',
  '2620:4f:8000::1',
  '3fff::1',
  '3fff:fff::1',
  '4000::1',
  '5f00::1',
  '8000::1',
  'c000::1',
  'fc00::1',
  'fd00::1',
  'fdff:ffff::1',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'feff::1',
  'ff02::1',
  'ff0e::1',
  '2606:2800::5efe:a00:5',
  '2606:2800::200:5efe:7f00:1',
  '2001:0:5db8:d822:0:0:f5ff:fffa',
];

/** IPv6 forms that embed an IPv4 address and reach it. */
export function ipv6Carriers(ipv4: string): string[] {
  const bytes = ipv4.split('.').map(Number);
  const hex = (values: number[]): string => {
    const digits = values.map((value) => value.toString(16).padStart(2, '0'));
    return `${digits[0]}${digits[1]}:${digits[2]}${digits[3]}`;
  };
  const plain = hex(bytes);
  const inverted = hex(bytes.map((byte) => byte ^ 0xff));
  return [
    `::ffff:${ipv4}`,
    `::ffff:${plain}`,
    `0:0:0:0:0:ffff:${plain}`,
    `0000:0000:0000:0000:0000:FFFF:${plain}`,
    `::${ipv4}`,
    `::${plain}`,
    `::ffff:0:${plain}`,
    `64:ff9b::${plain}`,
    `64:ff9b::${ipv4}`,
    `64:ff9b:1::${plain}`,
    `2002:${plain}::`,
    `2002:${plain}::1`,
    `2001:0:5db8:d822:0:0:${inverted}`,
    `2001:0:${plain}::1`,
    `2606:2800::5efe:${plain}`,
    `2606:2800::200:5efe:${ipv4}`,
  ];
}

/** Spellings that URL parsers and resolvers have read as the same IPv4 address. */
export function ipv4Spellings(ipv4: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  const whole = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
  const octal = (value: number) => `0${value.toString(8)}`;
  const hex = (value: number) => `0x${value.toString(16)}`;
  return [
    ipv4,
    `${ipv4}.`,
    String(whole),
    hex(whole),
    hex(whole).toUpperCase().replace('0X', '0x'),
    octal(whole),
    `${a}.${b * 2 ** 16 + c * 2 ** 8 + d}`,
    `${a}.${b}.${c * 2 ** 8 + d}`,
    [a, b, c, d].map(octal).join('.'),
    [a, b, c, d].map(hex).join('.'),
    `${hex(a)}.${octal(b)}.${c}.${hex(d)}`,
    `000000${octal(a)}.${b}.${c}.${d}`,
    [...ipv4].map((character) => (character === '.' ? '.' : String.fromCodePoint(0xff10 + Number(character)))).join(''),
    [...ipv4].map((character) => (character === '.' ? '.' : '⓪①②③④⑤⑥⑦⑧⑨'.charAt(Number(character)))).join(''),
    ipv4.replaceAll('.', '。'),
    ipv4.replaceAll('.', '．'),
    ipv4.replaceAll('.', '%2e'),
    [...ipv4].map((character) => `%${character.charCodeAt(0).toString(16)}`).join(''),
    `${a}\u00ad.${b}.${c}.${d}`,
    `${a}.${b}.${c}.${d}\t`,
  ];
}
