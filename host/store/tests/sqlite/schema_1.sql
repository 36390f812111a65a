-- Something in every table of a file of version 1, as that version wrote it.
INSERT INTO connection VALUES (1, 'acme-discord', 9, x'00000000000000000000000000000001', 4, 1770000000000);
INSERT INTO connection (number, id) VALUES (2, 'other');
INSERT INTO event VALUES (3, 1, x'000102030405060708090a0b0c0d0e0f', 1770000001000, 1770000001000, 1770000000000, 9, 2, 3, 0, 0,
  'message.created', 'a', NULL, 'MESSAGE_CREATE', 'lane', NULL, NULL, NULL, NULL, '{"text":"about a"}');
INSERT INTO event VALUES (4, 1, x'f00102030405060708090a0b0c0d0e0f', 1770000001000, 1770000001000, 1770000000000, 9, 2, 3, 0, 2,
  'message.created', 'b', 'a', 'MESSAGE_CREATE', 'lane', 'c_ada', NULL, NULL, '{"room":"4711"}', '{"text":"about b"}');
INSERT INTO raw VALUES (4, 4, 'raw');
-- The first half of SHA-256 over the event `message.created`, `pruned`, each with its length in front.
INSERT INTO marker VALUES (2, 2, x'd8263de16592bf8178cb4e82a01558bb');
UPDATE pruned SET position = 2;
INSERT INTO cursor VALUES ('consumer', 3, 1770000002000);
INSERT INTO inbox VALUES (7, 1, 20, 1770000001000, 0, 2, 0, 'MESSAGE_CREATE', 'lane', '{}', 'still raw');
INSERT INTO attempt VALUES (7, 2);
INSERT INTO dead_letter VALUES (5, 1, 1770000003000, 1770000001000, 0, 2, 'transform', 3,
  'sha256:0000000000000000000000000000000000000000000000000000000000000000', 'unreachable executed', 'MESSAGE_CREATE', 'lane', '{}',
  x'00ff');
INSERT INTO contact VALUES (1, 'c_ada', 'acme', 'Ada@example.org', NULL, '{}', 1770000000000, NULL);
INSERT INTO contact_key VALUES ('acme', 'email', 'ada@example.org', 1, 'c_ada', 'Ada@example.org');
INSERT INTO state VALUES (1, 'cursor', '7');
INSERT INTO checkpoint VALUES (1, 1, 2, 1770000001000, 'checkpoint');
INSERT INTO start VALUES ('credential', 1770000000000);
INSERT INTO start_left VALUES ('credential', 10, 1770000000000, 1000);
INSERT INTO parked VALUES (2, '{"code":"fatal","message":"m","todo":"t","since":7,"fingerprint":"f"}');
