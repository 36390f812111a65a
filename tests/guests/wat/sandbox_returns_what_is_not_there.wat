;; Breaks the canonical ABI; how, depends on the length of the batch: 1 a string outside of memory, 2 a list outside of
;; memory, 3 a misaligned result, 4 a variant that does not exist, 5 a string that is not UTF-8, 6 a list whose size overflows.
(export "cabi_realloc" (func $realloc))
(func (export "jackfield:connector/transform@0.1.0#transform") (param $batch i32) (param $length i32) (result i32)
  (if (i32.eq (local.get $length) (i32.const 1))
    (then (return (call $ignored (i32.const 0x7fffffff) (i32.const 64)))))
  (if (i32.eq (local.get $length) (i32.const 2))
    (then (return (call $answers (i32.const 0x7ffffff0) (i32.const 2)))))
  (if (i32.eq (local.get $length) (i32.const 3))
    (then (return (i32.const 3073))))
  (if (i32.eq (local.get $length) (i32.const 4))
    (then
      (drop (call $ignored (i32.const 2048) (i32.const 8)))
      (i32.store8 (i32.const 3088) (i32.const 200))
      (return (i32.const 3072))))
  (if (i32.eq (local.get $length) (i32.const 5))
    (then
      (i32.store (i32.const 4096) (i32.const 0x80fffefd))
      (return (call $ignored (i32.const 4096) (i32.const 4)))))
  (call $answers (i32.const 16) (i32.const -1)))
