;; Four memories, each of which may be as large as the limit allows: together they may not. Answers with the number of
;; 1 MiB steps that it got, as the length of the reason.
(export "cabi_realloc" (func $realloc))
(memory $a 1)
(memory $b 1)
(memory $c 1)
(func (export "jackfield:connector/transform@0.1.0#transform") (param i32 i32) (result i32)
  (local $steps i32)
  (local $grown i32)
  (loop $more
    (local.set $grown (i32.const 0))
    (if (i32.ne (memory.grow $a (i32.const 16)) (i32.const -1)) (then (local.set $grown (i32.add (local.get $grown) (i32.const 1)))))
    (if (i32.ne (memory.grow $b (i32.const 16)) (i32.const -1)) (then (local.set $grown (i32.add (local.get $grown) (i32.const 1)))))
    (if (i32.ne (memory.grow $c (i32.const 16)) (i32.const -1)) (then (local.set $grown (i32.add (local.get $grown) (i32.const 1)))))
    (local.set $steps (i32.add (local.get $steps) (local.get $grown)))
    (br_if $more (local.get $grown)))
  (memory.fill (i32.const 8192) (i32.const 120) (i32.const 8192))
  (call $ignored (i32.const 8192) (local.get $steps)))
