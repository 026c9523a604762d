/** The most common passwords that are long enough to be allowed, in lower case. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `password password1 password12 password123 password1234 password! p@ssword p@ssw0rd passw0rd pa55word passwort
12345678 123456789 1234567890 0123456789 0987654321 987654321 87654321 11111111 111111111 1111111111 00000000
000000000 0000000000 22222222 55555555 66666666 77777777 88888888 99999999 11223344 1122334455 12341234 123123123
12121212 123454321 12344321 147258369 159357456 741852963 789456123 qwertyui qwertyuiop qwerty12 qwerty123
qwerty1234 qwerty12345 1q2w3e4r 1q2w3e4r5t 1qaz2wsx 1qaz2wsx3edc q1w2e3r4 q1w2e3r4t5 zaq12wsx zaq1zaq1 asdfghjk
asdfghjkl asdf1234 asdfasdf zxcvbnm1 zxcvbnm123 qazwsxedc abcd1234 abc12345 abcdefgh abcdefg1 a1b2c3d4 aa123456
a1234567 a12345678 aaaaaaaa iloveyou iloveyou1 iloveyou2 ilovegod lovelove princess princess1 sunshine sunshine1
football football1 baseball baseball1 basketball superman superman1 batman123 starwars pokemon1 pokemon123 dragon12
dragon123 monkey12 monkey123 shadow12 shadow123 master12 master123 michael1 michelle jennifer jessica1 charlie1
ashley12 jordan23 liverpool liverpool1 chelsea1 arsenal1 barcelona manchester mustang1 corvette computer computer1
internet internet1 whatever trustno1 letmein1 letmein123 welcome1 welcome12 welcome123 changeme changeme1 changeme123
changeit secret12 secret123 test1234 test12345 testtest testing1 testing123 guest123 guest1234 default1 temp1234
admin123 admin1234 admin12345 admin@123 administrator administrator1 root1234 rootroot toor1234 user1234 username
login123 pass1234 pass12345 mypassword mypassword1 newpassword yourpassword summer2020 winter2020 spring2020
blink182 maverick hello123 hello1234 helloworld google123 samsung1 microsoft gitlab123 gitlab1234 github123 forge123
correcthorsebatterystaple`.split(/\s+/),
);
