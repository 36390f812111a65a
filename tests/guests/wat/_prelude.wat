;; What every hand-made guest begins with: memory, who it is, an allocator, and a constant answer.
;;
;; A guest is the fields of a core module in the canonical ABI of the world `handmade` (`connector` and `transform`); the
;; suite puts this file in front of it and makes a component of the two. Addresses below 65,536 belong to this file.
;; Memory begins at one page; a guest grows it as it needs. Nothing here is exported but `describe`.

(memory $memory (export "memory") 2)
(global $free (mut i32) (i32.const 65536))

;; describe's record at 1024: id, version, title, summary, transports, config-schema, asks, exclusive, start-budget,
;; writes-checkpoint, reads-checkpoints, annotations.
(data (i32.const 1024)
  "\00\08\00\00\08\00\00\00" "\10\08\00\00\05\00\00\00" "\00\08\00\00\08\00\00\00" "\00\08\00\00\08\00\00\00"
  "\00\00\00\00\00\00\00\00" "\20\08\00\00\11\00\00\00" "\00\00\00\00\00\00\00\00"
  "\00\00\00\00\00\00\00\00" "\00\00\00\00\00\00\00\00" "\00\00\00\00\00\00\00\00\00\00\00\00"
  "\01\00\00\00" "\40\08\00\00\01\00\00\00" "\38\08\00\00\02\00\00\00")
(data (i32.const 2048) "handmade")
(data (i32.const 2064) "0.1.0")
(data (i32.const 2080) "{\22type\22:\22object\22}")
(data (i32.const 2104) "{}")
(data (i32.const 2112) "\01\00\00\00")

(func (export "jackfield:connector/connector@0.1.0#describe") (result i32)
  (i32.const 1024))

;; A bump allocator that never frees.
(func $realloc (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
  (local $at i32)
  (global.set $free (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
  (local.set $at (global.get $free))
  (global.set $free (i32.add (local.get $at) (local.get $size)))
  (call $reach (global.get $free))
  (local.get $at))

;; Grows memory until this address lies in it.
(func $reach (param $address i32)
  (block $done
    (loop $more
      (br_if $done (i32.le_u (local.get $address) (i32.mul (memory.size $memory) (i32.const 65536))))
      (if (i32.eq (memory.grow $memory (i32.const 16)) (i32.const -1)) (then (unreachable)))
      (br $more))))

;; At 3072 the list of answers (pointer, length), at 3088 one answer: discriminant, pointer, length.
(func $answers (param $list i32) (param $length i32) (result i32)
  (i32.store (i32.const 3072) (local.get $list))
  (i32.store (i32.const 3076) (local.get $length))
  (i32.const 3072))

;; One answer `ignored` with this reason.
(func $ignored (param $reason i32) (param $length i32) (result i32)
  (i32.store (i32.const 3088) (i32.const 1))
  (i32.store (i32.const 3092) (local.get $reason))
  (i32.store (i32.const 3096) (local.get $length))
  (call $answers (i32.const 3088) (i32.const 1)))
